// everlong/testing: checks for what you write yourself. Each suite returns the promises that were broken.
export { runModelContract } from './models/contract.ts'
export { runStoreContract, type StoreContractInput, type StoreContractReport } from './testing/stores/contract.ts'
