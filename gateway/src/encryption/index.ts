// Encrypted sessions, for programs that read them without a gateway.
export { type Cipher, createCipher, type EncryptionKey, sealedWith } from './cipher.ts'
export { encryptedSessions } from './sessions.ts'
