// The agents whose transcripts can be read.
import type { Format } from 'everlong/internal'

export const agentNames: Readonly<Record<Format, string>> = {
  'claude-code': 'Claude Code',
  codex: 'Codex',
  pi: 'pi',
  gemini: 'Gemini CLI',
  copilot: 'Copilot CLI',
  cursor: 'Cursor',
  opencode: 'opencode',
}

/** "Claude Code, Codex, … or opencode" */
export const anyAgent = Object.values(agentNames)
  .join(', ')
  .replace(/, (?=[^,]*$)/, ' or ')
