/**
 * The service's own keys that pay for sponsored sends (docs/protocol/sends.md#sponsorship-limits), one a namespace of
 * CAIP-2 ids. They are made once for a data folder and stay; the service's operator puts funds on their addresses.
 */
import { type AddressFormat, addressOf, type Curve, createPrivateKey, type KeyAtHand } from '../../chain/index.ts'
import type { RandomBytes } from '../../crypto/index.ts'
import { decodeHex } from '../../encoding/index.ts'
import { type Sealing, serviceKeyPlace } from '../keys/index.ts'
import { type Database, insertServiceKey, listServiceKeys, lockInstallation, type Transaction } from '../store/index.ts'

const RELAYERS = {
  eip155: { curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
  solana: { curve: 'CURVE_ED25519', addressFormat: 'ADDRESS_FORMAT_SOLANA' },
} as const satisfies Record<string, { readonly curve: Curve; readonly addressFormat: AddressFormat }>

/** The namespace of chains that a relayer pays on. */
export type RelayerNamespace = keyof typeof RELAYERS

/** The relayers' addresses, as their chains write them. */
export type RelayerAddresses = Readonly<Record<RelayerNamespace, string>>

const NAMESPACES = Object.keys(RELAYERS) as readonly RelayerNamespace[]

/** Makes the relayers that a data folder lacks, and says the addresses of all. Throws `service/seal-broken`. */
export async function prepareRelayers(tools: {
  readonly database: Database
  readonly sealing: Sealing
  readonly randomBytes: RandomBytes
  readonly clock: () => number
}): Promise<RelayerAddresses> {
  return tools.database.write(async (tx) => {
    await lockInstallation(tx)
    const there = new Set((await listServiceKeys(tx)).map(({ name }) => name))
    for (const namespace of NAMESPACES.filter((each) => !there.has(nameOf(each)))) {
      const { privateKey, publicKey } = createPrivateKey(RELAYERS[namespace].curve, tools.randomBytes)
      const sealed = tools.sealing.seal(privateKey, serviceKeyPlace(nameOf(namespace)))
      await insertServiceKey(tx, {
        name: nameOf(namespace),
        public_key: publicKey,
        sealed_private_key: sealed,
        created_at: tools.clock(),
      })
    }
    return Object.fromEntries(
      await Promise.all(NAMESPACES.map(async (each) => [each, await relayerAddress(tx, each)] as const)),
    ) as RelayerAddresses
  })
}

/** The address that pays on the chains of a namespace. */
export async function relayerAddress(tx: Transaction, namespace: RelayerNamespace): Promise<string> {
  const { curve, addressFormat } = RELAYERS[namespace]
  return addressOf(curve, (await readKey(tx, namespace)).public_key, addressFormat)
}

/** Opens a relayer's key, lets `use` sign with it, and wipes it. INVARIANT: the key must not be kept beyond `use`. */
export async function withRelayerKey<Result>(
  { tx, unseal }: { readonly tx: Transaction; readonly unseal: Sealing['unseal'] },
  namespace: RelayerNamespace,
  use: (key: KeyAtHand) => Result | Promise<Result>,
): Promise<Result> {
  const { name, public_key: publicKey, sealed_private_key: sealed } = await readKey(tx, namespace)
  const privateKey = unseal(sealed, serviceKeyPlace(name))
  try {
    return await use({ curve: RELAYERS[namespace].curve, publicKey: decodeHex(publicKey), privateKey })
  } finally {
    privateKey.fill(0)
  }
}

async function readKey(tx: Transaction, namespace: RelayerNamespace) {
  return (await listServiceKeys(tx)).find(({ name }) => name === nameOf(namespace))!
}

function nameOf(namespace: RelayerNamespace): string {
  return `relayer-${namespace}`
}
