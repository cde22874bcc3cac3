/**
 * The four operations of Spark (docs/protocol/spark.md). The keys are those of one wallet, beneath the account whose identity is
 * named by `signWith`.
 */
import { apiError, type Wire } from '../../../protocol/index.ts'
import { SparkError, sparkAccountOf } from '../../../spark/index.ts'
import type { HandlerContext } from '../../engine/index.ts'
import { findSigner, openStoredMnemonic, signerFacts } from '../../signing/index.ts'
import type { SparkOperation } from '../../work/index.ts'
import type { HandlerRows, TypedHandler } from '../handler-table.ts'

export const sparkHandlers = {
  ACTIVITY_TYPE_SPARK_SIGN_FROST: sparkHandler<Wire.SparkSignFrostIntent, Wire.SparkSignFrostResult>(
    'ACTIVITY_TYPE_SPARK_SIGN_FROST',
  ),
  ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER: sparkHandler<Wire.SparkPrepareTransferIntent, Wire.SparkPrepareTransferResult>(
    'ACTIVITY_TYPE_SPARK_PREPARE_TRANSFER',
  ),
  ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER: sparkHandler<Wire.SparkClaimTransferIntent, Wire.SparkClaimTransferResult>(
    'ACTIVITY_TYPE_SPARK_CLAIM_TRANSFER',
  ),
  ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE: sparkHandler<
    Wire.SparkPrepareLightningReceiveIntent,
    Wire.SparkPrepareLightningReceiveResult
  >('ACTIVITY_TYPE_SPARK_PREPARE_LIGHTNING_RECEIVE'),
} satisfies HandlerRows

/** Checked before anybody has decided: nobody should vote on what cannot be carried out. */
function sparkHandler<Intent extends { readonly signWith: string }, Result>(
  operation: SparkOperation,
): TypedHandler<Intent, Result> {
  return {
    async validate(context, intent) {
      await findIdentity(context, intent.signWith)
      orRefuse(() => context.work.run('checkSpark', { input: { operation, intent }, weight: weightOf(intent) }))
    },
    async facts(context, { signWith }) {
      return signerFacts(context, await findSigner(context, signWith))
    },
    async execute(context, intent) {
      const { account, walletId } = await findIdentity(context, intent.signWith)
      const secret = await openStoredMnemonic(context, walletId)
      const job = { secret, input: { operation, intent, account }, weight: weightOf(intent) }
      return orRefuse(() => context.work.run('runSpark', job)) as Result
    },
  }
}

/** Each key and each point in a request takes a multiplication or two, and some forty bytes to be written. */
function weightOf(intent: object): number {
  return Math.ceil(JSON.stringify(intent).length / 32)
}

async function findIdentity(context: HandlerContext, signWith: string) {
  const signer = await findSigner(context, signWith)
  const path = signer.kind === 'wallet-account' && signer.curve === 'CURVE_SECP256K1' ? signer.account.path : ''
  const account = orRefuse(() => sparkAccountOf(path))
  // An identity is never a private key of its own: that has no path.
  return { account, walletId: signer.kind === 'wallet-account' ? signer.wallet.id : '' }
}

function orRefuse<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof SparkError) throw apiError('requestInvalid', error.message)
    throw error
  }
}
