/** The namespaces of chains (CAIP-2) in which payments are made, and what addresses look like there. */
import { isEthereumAddress } from './address.ts'
import type { AddressFormat } from './address-formats.ts'
import { isSolanaAddress } from './solana-address.ts'

interface NamespaceRow {
  /** What people call it. */
  readonly name: string
  readonly format: AddressFormat
  readonly isAddress: (text: string) => boolean
  /** Whether an address is the same in any case. */
  readonly anyCase: boolean
}

export const namespaces = {
  eip155: { name: 'Ethereum', format: 'ADDRESS_FORMAT_ETHEREUM', isAddress: isEthereumAddress, anyCase: true },
  solana: { name: 'Solana', format: 'ADDRESS_FORMAT_SOLANA', isAddress: isSolanaAddress, anyCase: false },
} as const satisfies Record<string, NamespaceRow>
export type Namespace = keyof typeof namespaces

const NAMES = Object.keys(namespaces) as Namespace[]

/** The namespace of a chain; undefined for one in which nothing is paid here. */
export function namespaceOf(caip2: string): Namespace | undefined {
  return NAMES.find((name) => caip2.startsWith(`${name}:`))
}

/** The namespace that an address is of: none looks like another's. Undefined for what is no address. */
export function namespaceOfAddress(text: string): Namespace | undefined {
  return NAMES.find((name) => namespaces[name].isAddress(text))
}

/** Whether two addresses are the same one. */
export function isSameAddress(one: string, other: string): boolean {
  const namespace = namespaceOfAddress(one)
  const anyCase = namespace !== undefined && namespaces[namespace].anyCase
  return anyCase ? one.toLowerCase() === other.toLowerCase() : one === other
}
