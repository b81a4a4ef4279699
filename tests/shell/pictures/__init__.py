"""Pictures of the real window in every state that the look describes, in both themes and at any size."""
