// What summarizers are asked to keep, in addition to what their agent asks of them.

export const summaryInstructions =
  "Write down word for word what the user asked to be done or not done from now on, and the user's latest request. Name what is finished, what is in progress, what failed and how it was fixed, and the exact next step. Mark nothing as approved or tested that the conversation does not show."

/** For agents whose summarizer looks for a section of this name in the conversation, as Claude Code's does. */
export const compactInstructions = `## Compact Instructions\n${summaryInstructions}`
