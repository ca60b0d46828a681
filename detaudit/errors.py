"""The errors that a user can cause, each with the exit code it leads to."""

from __future__ import annotations


class DetauditError(Exception):
    """An error told to the user as one line, without a traceback.

    Examples:
        >>> DetauditError("the model has no input").exit_code
        3

    """

    exit_code = 3


class UsageError(DetauditError, ValueError):
    """The command or the call is wrong: an unknown option, device, key or file.

    Raised before any device is touched.

    Examples:
        >>> UsageError("unknown device 'gpu'").exit_code
        2

    """

    exit_code = 2


class ModelError(DetauditError):
    """The file is no model that can be audited: broken, unsafe or not supported.

    Examples:
        >>> ModelError("model.onnx is truncated").exit_code
        3

    """


class RecordError(DetauditError):
    """The file is no record that this version of detaudit can read.

    Examples:
        >>> RecordError("a.audit was cut off").exit_code
        3

    """
