"""Normal quantiles that have the same bits on every machine.

Only operations that IEEE 754 rounds correctly are used, one at a time and in a fixed order: no
library's ``log``, no sum whose order is open, nothing that a compiler could fuse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Coefficients = tuple[float, ...]

# Numerators and denominators of algorithm AS 241, PPND16, by rising power.
CENTRAL = (
    (
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ),
    (
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)
NEAR_TAIL = (
    (
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ),
    (
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)
FAR_TAIL = (
    (
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ),
    (
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ),
)
TAIL_FROM = 0.425  # distance of the probability from 0.5
FAR_TAIL_FROM = 5.0  # sqrt(-log(probability)), hence probabilities below 1.4e-11

LOG_2 = 0.6931471805599453
SQRT_HALF = 0.7071067811865476
ATANH = tuple(2.0 / power for power in range(1, 22, 2))  # 2 atanh(s) = s * sum(ATANH[k] * s^2k)


def compute_normal(bits: NDArray[np.uint64]) -> Floats:
    """Standard normal values from random bits, by inversion.

    Bit 0 is the sign; bits 12 to 63 are an integer ``k`` that gives the tail probability
    ``(k + 0.5) / 2^53``, so that values reach 8.2 standard deviations. The quantile is that of
    [wichura1988]_, to about 16 digits.

    Args:
        bits: Shape ``(n,)``, uniform over all 64-bit words.

    Returns:
        Shape ``(n,)``, finite.

    Examples:
        >>> import numpy as np
        >>> compute_normal(np.array([2**63, 2**63 + 1, 2**60], dtype=np.uint64)).round(3)
        array([ 0.674, -0.674,  1.863])

    """
    tail = (bits >> np.uint64(12)).astype(np.float64)
    tail += 0.5
    tail *= 2.0**-53
    distance = 0.5 - tail
    square = distance * distance
    value = _divide(CENTRAL, np.subtract(0.180625, square, out=square))
    value *= distance
    outside = np.flatnonzero(distance > TAIL_FROM)
    value[outside] = _compute_tail(tail[outside])
    pattern = value.view(np.uint64)
    pattern |= bits << np.uint64(63)
    return value


def _compute_tail(probability: Floats) -> Floats:
    root = np.sqrt(-_log(probability))
    value = _divide(NEAR_TAIL, root - 1.6)
    far = np.flatnonzero(root > FAR_TAIL_FROM)
    value[far] = _divide(FAR_TAIL, root[far] - 5.0)
    return value


def _log(x: Floats) -> Floats:
    mantissa, exponent = np.frexp(x)
    small = mantissa < SQRT_HALF
    mantissa[small] *= 2.0
    exponent[small] -= 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    result: Floats = exponent * LOG_2 + s * _evaluate(ATANH, s * s)
    return result


def _divide(ratio: tuple[Coefficients, Coefficients], x: Floats) -> Floats:
    value = _evaluate(ratio[0], x)
    value /= _evaluate(ratio[1], x)
    return value


def _evaluate(coefficients: Coefficients, x: Floats) -> Floats:
    value: Floats = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        value += coefficient
        value *= x
    value += coefficients[0]
    return value
