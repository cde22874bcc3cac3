import { isSendOver } from '../../../activities/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { ledgerOf } from '../../sending/index.ts'
import { askAboutLanes, type SeenLanes, type SeenNonce, shownKeys } from '../../service/operator/index.ts'
import { findSeen } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { parseDuration } from '../durations.ts'
import { assertConfirmed, writeJson } from '../io.ts'
import { serviceFolder } from '../service-folder.ts'
import { isOpen, type NamedLanes, renderLanes } from '../views/lanes.ts'

/** Shows what was sent for which the service's sends hold still, asks, and has it written. */
export async function reconcileSends(input: CommandInput): Promise<ExitCode> {
  const { io, json, options } = input
  const folder = serviceFolder(input)
  const said = readHashes(options['other'])
  const pay = options['pay'] === 'all' ? ('all' as const) : readIds(options['pay'])
  const named = readIds(options['giveUp'])
  const within = options['within']
  const time = typeof within === 'string' ? { withinMs: parseDuration(within, '--within') } : {}
  const paid = await readPaid(input)
  const seen = await askAboutLanes(folder, { kind: 'list-lanes', others: said, ...time })
  // Told as included by what paid another of the ledger, a send would never be paid.
  const others = [...said, ...seen.lanes.flatMap(({ nonces }) => nonces.flatMap((one) => paid.another(one) ?? []))]
  const asked = { others, pay, giveUp: named, ...time }
  const again = others.length > said.length || pay.length > 0 || named.length > 0
  const found = paid.named(again ? await askAboutLanes(folder, { kind: 'list-lanes', ...asked }) : seen)
  const shown = found.lanes.flatMap(({ sends }) => sends)
  const held = new Set(shown.map(({ sendId }) => sendId))
  const unknown = [...(pay === 'all' ? [] : pay), ...named].find((id) => !held.has(id))
  if (unknown !== undefined) {
    throw new QuorateError('cli/usage', `no send that is held back has the id \`${unknown}\``, {
      next: 'take it from what `quorate sends reconcile --dry-run` shows; nothing was written',
    })
  }
  const isNothing = found.lanes.length === 0
  if (options['dryRun'] === true || isNothing) {
    if (json) writeJson(io, { ...found, isWritten: false })
    else io.out(renderLanes(found))
    return isNothing ? exitOf(found) : EXIT.waiting
  }
  if (!json) io.say(renderLanes(found, { isAsked: true }))
  await assertConfirmed(input, { question: 'Is that so?', otherwise: 'nothing was written' })
  // Of nothing that was not shown: a node may answer now for an address that could not be looked at before.
  const shownAs = (word: 'pay' | 'give-up') => shown.flatMap((one) => (one.word === word ? [one.sendId] : []))
  const words = { pay: shownAs('pay'), giveUp: shownAs('give-up') }
  const decided = { others, ...words, shown: found.lanes.flatMap(shownKeys), ...time }
  const written = paid.named(await askAboutLanes(folder, { kind: 'reconcile-lanes', ...decided }))
  if (json) writeJson(io, { ...written, isWritten: true })
  else io.out(renderLanes(written, { isWritten: true }))
  return exitOf(written)
}

/** What the ledger of this data folder knows of transactions, where it is that of the organization. */
async function readPaid(input: CommandInput) {
  const seen = await findSeen(input).catch(() => undefined)
  const { sends } = ledgerOf(input.settings.dataDir)
  const listed = seen === undefined ? [] : await sends.list(seen.organizationId)
  const byHash = new Map<string, string>()
  const byActivity = new Map<string, string>()
  const over = new Set<string>()
  for (const { sendId, order } of listed) {
    const { transactionHash, activityId, state } = (await sends.getProgress(sendId)) ?? {}
    if (transactionHash !== undefined && state === 'included') byHash.set(transactionHash, order.reference)
    if (activityId !== undefined) byActivity.set(activityId, order.reference)
    if (activityId !== undefined && state !== undefined && state !== 'included' && isSendOver(state))
      over.add(activityId)
  }
  return {
    /** The hash of one that is taken for a send, and has paid another. */
    another({ is, hash = '', activityId = '' }: SeenNonce): string | undefined {
      const [reference, asks] = [byHash.get(hash), byActivity.get(activityId)]
      return is === 'send' && reference !== undefined && asks !== undefined && reference !== asks ? hash : undefined
    },
    /** With the reference that each transaction has paid; what somebody was told to be over, and not paid, is given up. */
    named: ({ lanes, ...rest }: SeenLanes): NamedLanes => ({
      ...rest,
      lanes: lanes.map((lane) => ({
        ...lane,
        nonces: lane.nonces.map((one) => {
          const reference = byHash.get(one.hash ?? '')
          return reference === undefined ? one : { ...one, reference }
        }),
        sends: lane.sends.map((one) => {
          const reference = byActivity.get(one.activityId)
          const word = over.has(one.activityId) ? ({ word: 'give-up' } as const) : {}
          return { ...one, ...word, ...(reference === undefined ? {} : { reference }) }
        }),
      })),
    }),
  }
}

function exitOf({ lanes, unread }: SeenLanes): ExitCode {
  return unread.length > 0 || lanes.some(isOpen) ? EXIT.waiting : EXIT.done
}

/** Reads ids of sends, with commas between. */
const readIds = (given: unknown): readonly string[] =>
  String(given ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

/** Reads hashes, or signatures, of transactions, with commas between. Throws `cli/usage`. */
function readHashes(given: unknown): readonly string[] {
  const hashes = String(given ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => (/^0x/i.test(one) ? one.toLowerCase() : one))
  const wrong = hashes.find((one) => !/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/.test(one))
  if (wrong === undefined) return hashes
  throw new QuorateError(
    'cli/usage',
    `expected the hash of a transaction, 0x and 64 hex digits, or a signature in base58, got \`${wrong}\``,
    {
      next: 'take it from what `quorate sends reconcile --dry-run` shows; nothing was written',
    },
  )
}
