// Text that somebody else wrote, made harmless: the same functions that the agent's terminal uses.

export { oneLine, safeJson, visible } from '@everlong/agent/render'
