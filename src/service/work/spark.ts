/**
 * The four operations of Spark (docs/protocol/spark.md) as functions of a request and a wallet's words. The keys are those of one
 * wallet, beneath one account; they are derived for the operation, wiped after it, and need not be accounts.
 */
import { openWallet, type Wallet } from '../../chain/index.ts'
import { randomBytes } from '../../crypto/index.ts'
import { decodeHex, decodeUtf8, encodeHex, isHex } from '../../encoding/index.ts'
import type { Wire } from '../../protocol/index.ts'
import {
  type Claim,
  checkClaim,
  checkFrostRequest,
  checkLightningReceive,
  checkSparkKey,
  checkTransfer,
  claimTransfer,
  type FrostRequest,
  type OperatorPackage,
  prepareLightningReceive,
  prepareTransfer,
  type Quorum,
  SparkError,
  type SparkKey,
  type SparkTransfer,
  signFrostShare,
  sparkPath,
} from '../../spark/index.ts'

const signFrost = operation(
  ({ signatures }: Wire.SparkSignFrostIntent) =>
    signatures.map((request) => ({ key: readDerivation(request.derivation), request: readFrostRequest(request) })),
  (requests) => {
    for (const { request } of requests) checkFrostRequest(request)
  },
  (requests, keys): Wire.SparkSignFrostResult => ({
    signatures: requests.map(({ key, request }) => {
      const { signatureShare, hiding, binding } = signFrostShare(keys.privateKey(key), request, randomBytes)
      return { signatureShare: encodeHex(signatureShare), hiding: encodeHex(hiding), binding: encodeHex(binding) }
    }),
  }),
)

const prepare = operation(
  ({ transfer }: Wire.SparkPrepareTransferIntent) => ({
    ...readQuorum(transfer),
    transferId: transfer.transferId,
    receiverPublicKey: hex('receiverPublicKey', transfer.receiverPublicKey),
    leaves: transfer.leaves.map((leaf) => ({
      leafId: leaf.leafId,
      oldKey: readDerivation(leaf.oldLeafDerivation),
      newKey: readNewLeaf(leaf.newLeafDerivation),
      refundSignature: hex('refundSignature', leaf.refundSignature),
      directRefundSignature: hex('directRefundSignature', leaf.directRefundSignature),
      directFromCpfpRefundSignature: hex('directFromCpfpRefundSignature', leaf.directFromCpfpRefundSignature),
    })),
  }),
  checkTransfer,
  (given, keys): Wire.SparkPrepareTransferResult => {
    const transfer: SparkTransfer = {
      ...given,
      leaves: given.leaves.map(({ oldKey, newKey, ...leaf }) => ({
        ...leaf,
        oldPrivateKey: keys.privateKey(oldKey),
        newPrivateKey: keys.privateKey(newKey),
      })),
    }
    const { operatorPackages, userSignature } = prepareTransfer(keys.identity, transfer, randomBytes)
    return {
      operatorPackages: toWirePackages(operatorPackages),
      transferUserSignature: encodeHex(userSignature),
      newLeafPublicKeys: given.leaves.map(({ newKey }) => keys.publicLeaf(newKey)),
    }
  },
)

const claim = operation(
  ({ claim: given }: Wire.SparkClaimTransferIntent) => ({
    ...readQuorum(given),
    transferId: given.transferId,
    senderIdentityPublicKey: hex('senderIdentityPublicKey', given.senderIdentityPublicKey),
    leaves: given.leaves.map(({ leafId, ciphertext, senderSignature }) => ({
      leafId,
      ciphertext: hex('ciphertext', ciphertext),
      senderSignature: hex('senderSignature', senderSignature),
      ownKey: { kind: 'signingLeaf', leafId } as const,
    })),
  }),
  checkClaim,
  (given, keys): Wire.SparkClaimTransferResult => {
    const transfer: Claim = {
      ...given,
      leaves: given.leaves.map(({ ownKey, ...leaf }) => ({ ...leaf, ownPrivateKey: keys.privateKey(ownKey) })),
    }
    return {
      operatorPackages: toWirePackages(claimTransfer(keys.identity, transfer, randomBytes)),
      newLeafPublicKeys: given.leaves.map(({ ownKey }) => keys.publicLeaf(ownKey)),
    }
  },
)

const lightningReceive = operation(
  (intent: Wire.SparkPrepareLightningReceiveIntent) => readQuorum(intent.lightningReceive),
  checkLightningReceive,
  (quorum, _): Wire.SparkPrepareLightningReceiveResult => {
    const { operatorPackages, paymentHash } = prepareLightningReceive(quorum, randomBytes)
    return { operatorPackages: toWirePackages(operatorPackages), paymentHash: encodeHex(paymentHash) }
  },
)

const OPERATIONS = {
  ACTIVITY_TYPE_SPARK_SIGN_FROST: signFrost,
  ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER: prepare,
  ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER: claim,
  ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE: lightningReceive,
} as const

export type SparkOperation = keyof typeof OPERATIONS

export interface SparkJob {
  readonly operation: SparkOperation
  /** Of the operation's own shape. */
  readonly intent: object
}

/** Throws `SparkError` for a request that cannot be carried out, whatever the keys are. */
export function checkSpark(_: Uint8Array, { operation: name, intent }: SparkJob) {
  OPERATIONS[name].check(intent as never)
  return {}
}

/** Carries out a request with the keys beneath an account of a wallet; the secret is the wallet's words. */
export function runSpark(
  secret: Uint8Array,
  { operation: name, intent, account }: SparkJob & { readonly account: number },
) {
  const keys = createSparkKeys(openWallet(decodeUtf8(secret)), account)
  try {
    return OPERATIONS[name].run(intent as never, keys)
  } finally {
    keys.close()
  }
}

/** An operation in three steps: `read` and `check` see the request alone, `run` has the keys. */
function operation<Intent, Given, Result extends object>(
  read: (intent: Intent) => Given,
  check: (given: Given) => void,
  run: (given: Given, keys: SparkKeys) => Result,
) {
  return {
    check: (intent: Intent) => check(read(intent)),
    run: (intent: Intent, keys: SparkKeys) => run(read(intent), keys),
  }
}

/** The keys of one account, each derived when it is asked for; all are wiped when closed. */
interface SparkKeys {
  readonly identity: Uint8Array
  privateKey(key: SparkKey): Uint8Array
  publicLeaf(key: SparkKey & { readonly kind: 'signingLeaf' }): Wire.SparkLeafPublicKey
  close(): void
}

function createSparkKeys(wallet: Wallet, account: number): SparkKeys {
  const opened: Uint8Array[] = []
  const derive = (key: SparkKey) => {
    const path = sparkPath(account, key)
    const made = wallet.deriveKey({ curve: 'CURVE_SECP256K1', path, addressFormat: 'ADDRESS_FORMAT_COMPRESSED' })
    opened.push(made.privateKey)
    return made
  }
  return {
    identity: derive({ kind: 'identity' }).privateKey,
    privateKey: (key) => derive(key).privateKey,
    publicLeaf: (key) => ({ leafId: key.leafId, publicKey: encodeHex(derive(key).publicKey) }),
    close() {
      for (const key of opened) key.fill(0)
      wallet.close()
    },
  }
}

/** Exactly one member says which key it is (docs/protocol/spark.md#keys); the schema would allow none and several. */
function readDerivation(derivation: Wire.SparkKeyDerivation): SparkKey {
  const key = memberOf(derivation)
  checkSparkKey(key)
  return key
}

function memberOf(derivation: Wire.SparkKeyDerivation): SparkKey {
  const members = Object.keys(derivation) as (keyof Wire.SparkKeyDerivation)[]
  if (members.length !== 1) {
    throw new SparkError(`expected \`derivation\` to have exactly one member, got ${members.length}`)
  }
  switch (members[0]!) {
    case 'identity':
      return { kind: 'identity' }
    case 'deposit':
      return { kind: 'deposit' }
    case 'signingLeaf':
      return { kind: 'signingLeaf', leafId: derivation.signingLeaf!.leafId }
    case 'staticDeposit':
      return { kind: 'staticDeposit', index: derivation.staticDeposit!.index }
    case 'htlcPreimage':
      throw new SparkError('`htlcPreimage` is no key to sign with')
    default:
      throw new SparkError(`\`derivation\` has no member \`${members[0]}\``)
  }
}

/** A new leaf is known by its id afterwards, which no other key has. */
function readNewLeaf(derivation: Wire.SparkKeyDerivation): SparkKey & { readonly kind: 'signingLeaf' } {
  const key = readDerivation(derivation)
  if (key.kind === 'signingLeaf') return key
  throw new SparkError('expected `newLeafDerivation` to be a `signingLeaf`')
}

function readFrostRequest(request: Wire.SparkSignatureRequest): FrostRequest {
  const { adaptorPublicKey = '' } = request
  return {
    message: hex('message', request.message),
    verifyingKey: hex('verifyingKey', request.verifyingKey),
    operatorCommitments: request.operatorCommitments.map(({ id, hiding, binding }) => ({
      id: hex('operatorCommitments.id', id),
      hiding: hex('operatorCommitments.hiding', hiding),
      binding: hex('operatorCommitments.binding', binding),
    })),
    // The empty text is no adaptor, as is an absent one.
    ...(adaptorPublicKey === '' ? {} : { adaptorPublicKey: hex('adaptorPublicKey', adaptorPublicKey) }),
  }
}

function readQuorum(given: Wire.SparkLightningReceivePackage): Quorum {
  return {
    threshold: given.threshold,
    operators: given.operatorRecipients.map(({ operatorId, encryptionPublicKey }) => ({
      operatorId,
      encryptionPublicKey: hex('encryptionPublicKey', encryptionPublicKey),
    })),
  }
}

function toWirePackages(packages: readonly OperatorPackage[]): readonly Wire.SparkEncryptedOperatorPackage[] {
  return packages.map(({ operatorId, encryptedPackage }) => ({
    operatorId,
    encryptedPackage: encodeHex(encryptedPackage),
  }))
}

function hex(name: string, text = ''): Uint8Array {
  if (text === '') return new Uint8Array()
  if (!isHex(text)) throw new SparkError(`expected \`${name}\` to be hex of whole bytes`)
  return decodeHex(text)
}
