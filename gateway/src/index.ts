// The public names, one by one.

export { type Report, reportOf } from './books/report.ts'
export { ConfigError, checkConfig, loadConfig, type Overrides } from './config/load.ts'
export { type Config, type Level, levels } from './config/schema.ts'
export { type Gateway, type GatewayPorts, startGateway } from './gateway.ts'
export { openStores, type Stores } from './stores.ts'
