"""Calibration records and the arithmetic that makes and checks them."""
