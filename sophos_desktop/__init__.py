"""Sophos Desktop: an agent on your own machine that cannot lose your work."""

__version__ = "0.1.0"
