// The mark of an interrupted turn in the conversation.

/** The text for the model after the person interrupted a turn. */
export const interruptedText = 'The person interrupted the work here.'
