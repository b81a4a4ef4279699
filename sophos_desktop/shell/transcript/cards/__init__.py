"""What stands between the texts of a conversation: real widgets, one class each."""
