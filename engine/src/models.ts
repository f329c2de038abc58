// everlong/models: for whoever writes a model client. The clients themselves: everlong/anthropic, everlong/openai, and
// offline() and recorded() in everlong.

export { overflowOfAnswer, type Refusal, readRefusal, type Verdict } from './core/request/refusal.ts'
export { type ModelContractInput, type ModelContractReport, runModelContract } from './models/contract.ts'
export { offlineNotice } from './models/offline.ts'
export { type ModelPorts, systemPorts } from './models/ports.ts'
export { defaultRetries, type RetryPolicy } from './models/retry.ts'
