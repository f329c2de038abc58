// everlong/testing: checks for your own stores, mechanisms and clients. Each suite returns the broken promises.
export { runModelContract } from './models/contract.ts'
export { runStoreContract, type StoreContractInput, type StoreContractReport } from './testing/stores/contract.ts'
