import { ecdsaOver } from './ecdsa.ts'

/** ECDSA over SHA-256 on the curve of SEC 2 §2.4.1. */
export const secp256k1 = ecdsaOver({ name: 'secp256k1', openssl: 'secp256k1' })
