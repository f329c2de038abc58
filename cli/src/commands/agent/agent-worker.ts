// Starts the agent's thread. A thread does not inherit the compile cache of the process, so it turns on its own before it loads
// the agent.
import { enableCompileCache } from 'node:module'

enableCompileCache()
await import('./agent-thread.ts')
