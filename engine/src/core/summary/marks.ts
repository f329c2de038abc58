// The lines by which a summary of ours is known again.

export const codeMade = 'Made by code from the conversation, without a model.'
export const factsHeading = '## Facts beside the summary'
export const latestHeading = '## The latest request of the user, word for word'
export const nothing = 'None'
export const leftOut = 'Left out for room.'
export const doubtsOpening = 'Named above and found nowhere in the conversation, so perhaps wrong:'
