"""Ground floor: knows nothing of Sophos."""
