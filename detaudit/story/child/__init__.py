"""What runs inside the script's process: nothing but the standard library and the seeding core."""
