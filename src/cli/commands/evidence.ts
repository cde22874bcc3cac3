import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { FORMAT, makeEvidence, type SignedEvidence, textOf, verifyEvidence } from '../../evidence/index.ts'
import { CHANGING_TYPES, readActual } from '../../live/index.ts'
import { findActivity, listActivities, reader } from '../../operations/index.ts'
import type { Resource } from '../../resources/index.ts'
import { createApiKeyStamper } from '../../stamp/index.ts'
import { findPlace } from '../background/connect.ts'
import type { CommandInput } from '../command.ts'
import { writePrivate } from '../files.ts'
import { jsonText, writeJson } from '../io.ts'
import { counted, line } from '../screen.ts'
import { renderVerified } from '../views/evidence.ts'
import { readText } from './show.ts'

/** So many activities are looked through for what has changed since. */
const MOST_CHANGES = 2_000

/** Collects what decided an activity and signs it. Submits nothing: its client has no way to. */
export async function evidence(input: CommandInput): Promise<ExitCode> {
  const { io, args, options } = input
  const place = await findPlace(input)
  const client = reader(place)
  const activity = await findActivity(client, args[0]!)
  const { policyEvaluations: evaluations } = await client.query('get_policy_evaluations', { activityId: activity.id })
  const actual = await readActual(client, { everything: true })
  const changes = await listActivities(client, { which: 'completed', types: CHANGING_TYPES, limit: MOST_CHANGES })
  const isCut = changes.length === MOST_CHANGES
  const made = makeEvidence({
    activity,
    evaluations,
    actual,
    changes,
    isCut,
    baseUrl: place.baseUrl,
    nowMs: place.now(),
  })
  const { value: signature } = await createApiKeyStamper(place.key, place.key).stamp(textOf(made))
  const signed: SignedEvidence = { evidence: made, signature }
  const { out } = options
  if (typeof out !== 'string') writeJson(io, signed)
  else {
    writePrivate(out, jsonText(signed))
    io.say(
      line`${out}: ${activity.type} with ${counted(activity.votes.length, 'vote')}, and ${decidingText(made.state)}, by which it is decided. Check it with \`quorate evidence verify ${out}\`.\n`,
    )
  }
  return EXIT.done
}

/** `4 policies, 3 users and 21 other things`. */
function decidingText(state: readonly Resource[]): string {
  const ofKind = (kind: Resource['kind']) => state.filter((one) => one.kind === kind).length
  const [policies, users] = [ofKind('policy'), ofKind('user')]
  const others = state.length - policies - users
  return `${counted(policies, 'policy', 'policies')}, ${counted(users, 'user')} and ${counted(others, 'other thing')}`
}

/** Checks a file of evidence; asks nobody. */
export async function verify(input: CommandInput): Promise<ExitCode> {
  const { io, json, args, options } = input
  const { collector } = options
  const verified = verifyEvidence(readEvidence(args[0]!), typeof collector === 'string' ? { collector } : {})
  if (json) writeJson(io, verified)
  else io.out(renderVerified(verified, io.style, typeof collector === 'string'))
  const has = (verdict: string) => verified.checks.some((one) => one.verdict === verdict)
  return has('broken') ? EXIT.error : has('unknown') ? EXIT.partial : EXIT.done
}

function readEvidence(path: string): SignedEvidence {
  const fail = (why: string, cause?: unknown) =>
    new QuorateError('cli/usage', `\`${path}\` is no evidence: ${why}`, {
      next: 'name a file that `quorate evidence --out` has written',
      ...(cause === undefined ? {} : { cause }),
    })
  try {
    const read = JSON.parse(readText(path)) as Partial<SignedEvidence>
    if (read.evidence?.format !== FORMAT) throw fail(`expected the format ${FORMAT}`)
    if (typeof read.signature !== 'string') throw fail('it has no signature')
    return read as SignedEvidence
  } catch (error) {
    if (error instanceof SyntaxError) throw fail('it is not JSON', error)
    throw error
  }
}
