"""The words of Sophos as frozen types. Standard library only."""
