import {
  addressSpellings,
  ChainError,
  isEthereumAddress,
  isSendActivity,
  readPayloadFacts,
  readSendFacts,
  readTransactionFacts,
  type SendIntent,
} from '../chain/index.ts'
import type { PolicyContext } from '../policy/index.ts'
import { type ActivityFamily, findActivity, type Wire } from '../protocol/index.ts'
import type { Actual, Resource } from '../resources/index.ts'
import { interfacesOf } from './world.ts'

type Facts = Partial<PolicyContext>
type Intent = Readonly<Record<string, unknown>>
type Things = readonly Resource[]

/**
 * What policies read of an activity besides its intent: whose key signs, and what the transaction says; undefined where that is not
 * known from here. Whether a wallet or a key was imported or exported is left out: no list tells how that was when it was asked.
 */
export function factsOfActivity(
  { type, intent }: Pick<Wire.Activity, 'type' | 'intent'>,
  { resources }: Pick<Actual, 'resources'>,
): Facts | undefined {
  const row = findActivity(type)?.row
  const request = row && (intent as Readonly<Record<string, Intent | undefined>>)[row.intentKey]
  if (!row || !request || UNTOLD.has(row.family)) return undefined
  try {
    if (isSendActivity(row.type)) return sendFacts(row.type, request, resources)
    const read = FACTS[row.family]
    return read ? read(request, resources) : {}
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    return undefined
  }
}

/** Families whose policies read what neither the intent nor any list tells: secrets, invitations, and who logs in. */
const UNTOLD: ReadonlySet<ActivityFamily> = new Set([
  'ACCEPT_INVITATION',
  'CREATE_READ_ONLY_SESSION',
  'CREATE_READ_WRITE_SESSION',
  'EMAIL_AUTH',
  'EXPORT_SECRETS',
  'INIT_OTP_AUTH',
  'INIT_USER_EMAIL_RECOVERY',
  'OTP_LOGIN',
  'RECOVER_USER',
  'STAMP_LOGIN',
])

const signerFacts = ({ signWith, privateKeyId }: Intent, things: Things) =>
  holderFacts(String(signWith ?? privateKeyId), things)

const FACTS: Readonly<Partial<Record<ActivityFamily, (intent: Intent, things: Things) => Facts | undefined>>> = {
  DELETE_WALLETS: ({ walletIds }, things) => {
    const wallets = (walletIds as readonly string[]).map((id) => walletOf(id, things))
    return wallets.some((one) => one === undefined) ? undefined : { wallets: wallets as readonly NonNullable<Wallet>[] }
  },
  EXPORT_WALLET: ({ walletId }, things) => {
    const wallet = walletOf(String(walletId), things)
    return wallet && { wallet }
  },
  EXPORT_WALLET_ACCOUNT: ({ address }, things) => holderFacts(String(address), things),
  EXPORT_PRIVATE_KEY: ({ privateKeyId }, things) => holderFacts(String(privateKeyId), things),
  SIGN_TRANSACTION: transactionFacts,
  SIGN_RAW_PAYLOAD: payloadFacts,
  SIGN_RAW_PAYLOADS: payloadFacts,
  SPARK_SIGN_FROST: signerFacts,
  SPARK_PREPARE_TRANSFER: signerFacts,
  SPARK_CLAIM_TRANSFER: signerFacts,
  SPARK_PREPARE_LIGHTNING_RECEIVE: signerFacts,
}

function transactionFacts(intent: Intent, things: Things): Facts | undefined {
  const holder = signerFacts(intent, things)
  const signer = holder?.wallet_account?.['address'] as string | undefined
  const [type, unsignedTransaction] = [String(intent['type']), String(intent['unsignedTransaction'])]
  const needsSender = type === 'TRANSACTION_TYPE_ETHEREUM' || type === 'TRANSACTION_TYPE_TEMPO'
  // The sender is an address of the key, which the id of a key or another form of an address does not tell.
  if (!holder || signer === undefined || (needsSender && !isEthereumAddress(signer))) return undefined
  const interfaces = interfacesOf(things)
  return { ...holder, ...(readTransactionFacts({ type, unsignedTransaction, signer, interfaces }) as Facts) }
}

function payloadFacts(intent: Intent, things: Things): Facts | undefined {
  const holder = signerFacts(intent, things)
  if (!holder) return undefined
  const payloads = (intent['payloads'] ?? [intent['payload']]) as readonly string[]
  const batch = payloads.map((payload) => readPayloadFacts({ encoding: String(intent['encoding']), payload }) as Facts)
  return batch.some((one) => Object.keys(one).length > 0) ? { ...holder, batch } : holder
}

function sendFacts(type: string, intent: Intent, things: Things): Facts | undefined {
  const { from, signWith, signWiths } = intent as { from?: string; signWith?: string; signWiths?: readonly string[] }
  const facts = readSendFacts(type, intent as SendIntent, { interfaces: interfacesOf(things) }) as Facts
  // A transaction that was signed before says by whom.
  const signedBy = (facts.eth?.['tx'] as Intent | undefined)?.['from']
  const senders = signWiths ?? [String(from ?? signWith ?? signedBy)]
  const holders = senders.map((sender) => holderFacts(sender, things))
  if (holders.some((one) => one === undefined)) return undefined
  return holders.length === 1 ? { ...holders[0], ...facts } : { ...facts, batch: holders as readonly Facts[] }
}

/** Whose a key is that is named by an address of a wallet account or by the id of a private key. */
function holderFacts(name: string, things: Things): Facts | undefined {
  const key = things.find(({ kind, id }) => kind === 'privateKey' && id === name.toLowerCase())
  if (key) return { private_key: { id: key.id!, label: key.name, tags: key.fields['tags'] ?? [] } }
  const spellings = addressSpellings(name)
  const account = things.find(({ known }) => known?.address !== undefined && spellings.includes(known.address))
  const wallet = account && walletOf(account.parentId!, things)
  return wallet && { wallet, wallet_account: { address: account.known!.address! } }
}

type Wallet = ReturnType<typeof walletOf>

function walletOf(id: string, things: Things): { readonly id: string; readonly label: string } | undefined {
  const wallet = things.find((one) => one.kind === 'wallet' && one.id === id)
  return wallet && { id, label: wallet.name }
}
