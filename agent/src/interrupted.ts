// The mark of an interrupted turn in the conversation.

/** What the model reads after the person interrupted a turn. */
export const interruptedText = 'The person interrupted the work here.'
