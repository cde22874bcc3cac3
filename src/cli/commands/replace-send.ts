import { type SendOrder, type SendProgress, sendIdOf } from '../../../activities/index.ts'
import { namespaceOf } from '../../chain/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { type Place, reader } from '../../operations/index.ts'
import {
  askedAnew,
  chainOf,
  ledgerOf,
  makeReplacement,
  prepareSend,
  type Replacement,
  readSignedTransaction,
  replacementReference,
  unknownName,
  usage,
} from '../../sending/index.ts'
import { readFeeSettings, readKeptChains } from '../background/kept-chains.ts'
import { asksAgain, type CommandInput } from '../command.ts'
import { findPlaceOf } from '../place-of.ts'
import { begin, carryOut, readNames } from '../sending/index.ts'

/** Offers the same payment for more, with the same nonce. */
export function replaceSend(input: CommandInput): Promise<ExitCode> {
  return takeItsPlace(input, 'replace')
}

/** Uses the nonce of a send for nothing, so that it can no longer be included. */
export function cancelSend(input: CommandInput): Promise<ExitCode> {
  return takeItsPlace(input, 'cancel')
}

async function takeItsPlace(input: CommandInput, kind: Replacement): Promise<ExitCode> {
  const [reference = '', folder] = input.args
  const place = await findPlaceOf(input, folder, { acts: input.options['dryRun'] !== true })
  const { sends: ledger } = ledgerOf(input.settings.dataDir)
  const orders = (await ledger.list(place.organizationId)).map(({ order }) => order)
  const old = orders.find((order) => order.reference === reference)
  if (old !== undefined) assertHasNonce(old)
  const { maxFee } = input.options
  if (typeof maxFee !== 'string')
    throw usage('expected --max-fee', 'say the most to pay for a unit of gas, such as 60gwei')
  // It has been made before: what it offers stands in the ledger, whatever has become of the old one.
  const made = orders.find((order) => order.reference === replacementReference(reference, { kind, maxFee }))
  const isAgain =
    asksAgain(input) && made !== undefined && (await ledger.getProgress(sendIdOf(made)))?.state === 'rejected'
  if (made?.replaces === reference && !isAgain && !input.options['dryRun']) return begin(input, place, made)
  if (old === undefined)
    throw unknownName(
      'send',
      reference,
      orders.map((order) => order.reference),
    )
  const names = await readNames(input, place, folder)
  if (!names) return EXIT.error
  const by = orders.findLast(({ replaces }) => replaces === reference)
  const kept = { order: old, progress: await ledger.getProgress(sendIdOf(old)) }
  const [{ progress } = kept] = await askedAnew([kept], { api: async () => reader(place), now: place.now })
  const hash = await readHash(place, old, { progress, by })
  const signed = await readSignedTransaction(findNode(input, old), hash).catch((error: unknown) => {
    if (by === undefined || !(error instanceof QuorateError) || error.code !== 'cli/no-transaction') throw error
    // Nodes keep one transaction of a nonce.
    throw notReplaceable(reference, `\`${by.reference}\` was offered in its place`, {
      next: `${kind} that one: \`quorate sends ${kind} '${by.reference}' --max-fee ${maxFee}\``,
    })
  })
  if (signed.isMined) throw notReplaceable(reference, 'it is in a block')
  const { from } = old.parameters as { readonly from: string }
  const make = ({ now }: { readonly now: number }) => makeReplacement(old, { kind, maxFee, signed, now })
  const given = { names, parties: [from], receivers: [], ledger, fees: readFeeSettings(input) }
  return carryOut(input, place, await prepareSend(place, { ...given, make }))
}

/** On Solana nothing numbers the transactions of an account, so that none could take another's place. */
function assertHasNonce(order: SendOrder): void {
  if (namespaceOf(chainOf(order)) !== 'solana') return
  const why = 'transactions on Solana have no nonce, and a second one would pay a second time'
  throw notReplaceable(order.reference, why, {
    next: 'look at it with `quorate sends`: what no block has within two minutes, the service signs anew',
  })
}

/** The hash that the API has for a send that is on its way now. */
async function readHash(
  place: Place,
  { reference }: SendOrder,
  { progress, by }: { readonly progress: SendProgress | undefined; readonly by: SendOrder | undefined },
): Promise<string> {
  const { sendTransactionStatusId } = progress ?? {}
  if (sendTransactionStatusId === undefined) throw notReplaceable(reference, 'it was not broadcast')
  const { txStatus, eth } = await reader(place).query('get_send_transaction_status', { sendTransactionStatusId })
  if (txStatus === 'INCLUDED') throw notReplaceable(reference, 'it is in a block')
  if (txStatus === 'FAILED')
    throw notReplaceable(
      reference,
      `it has failed${by === undefined ? '' : `, and \`${by.reference}\` was offered in its place`}`,
    )
  if (eth?.txHash === undefined) throw notReplaceable(reference, 'it is not broadcast yet')
  return eth.txHash
}

function findNode({ options, environment, settings }: CommandInput, order: SendOrder): string {
  const caip2 = chainOf(order)
  const { node = readKeptChains(settings.dataDir, environment)[caip2]?.url } = options
  if (typeof node === 'string' && URL.canParse(node)) return node
  throw usage(
    node === undefined
      ? `no node of chain ${caip2} is known`
      : `expected --node to be an address, got \`${String(node)}\``,
    'give --node http://…, or name it in QUORATE_CHAINS: the API does not tell nonces, the chain does',
  )
}

function notReplaceable(
  reference: string,
  why: string,
  { next = 'look at it with `quorate sends`; one that waits for approval is ended with `quorate reject`' } = {},
): QuorateError {
  return new QuorateError('cli/not-replaceable', `\`${reference}\` cannot be replaced: ${why}`, {
    exit: EXIT.refused,
    facts: { submitted: 'nothing' },
    next,
  })
}
