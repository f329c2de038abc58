// The public names, one by one.

export { type Report, reportOf } from './books/report.ts'
export { ConfigError, checkConfig, loadConfig, type Overrides } from './config/load.ts'
export { type Config, type Level, levels } from './config/schema.ts'
export { createCipher, type EncryptionKey } from './encryption/cipher.ts'
export { encryptedSessions } from './encryption/sessions.ts'
export { type Erased, eraseUser } from './erasure.ts'
export { type Gateway, type GatewayPorts, startGateway } from './gateway.ts'
export { openStores, type Stores } from './stores.ts'
