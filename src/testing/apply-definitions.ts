/**
 * Makes the organization of a new service what definitions say, without a durable workflow: nobody but this process works with
 * it, and what breaks is begun anew.
 */
import { createRate, type SubmitClient } from '../client/index.ts'
import { generateP256KeyPair } from '../crypto/index.ts'
import { type Diagnostic, hasErrors, QuorateError, renderDiagnostics } from '../diagnostics/index.ts'
import {
  assertAllowed,
  castVote,
  createClients,
  type Place,
  planFolder,
  reader,
  type Survey,
  submitter,
  surveyDefinitions,
} from '../operations/index.ts'
import {
  appliedPlans,
  collectIds,
  fillParameters,
  hasChanges,
  isStandIn,
  type Lock,
  makeBody,
  type Plan,
} from '../plan/index.ts'
import { type ActivityType, activities, type Wire } from '../protocol/index.ts'
import type { Bootstrap, ServiceOptions } from '../service/index.ts'
import { Secret } from '../telemetry/index.ts'
import type { NamedKey, QuorateOptions, Started } from './model.ts'

/** What becomes possible inside a sub-organization is planned once it is there: its folders may hold others. */
const MOST_ROUNDS = 8

const SUFFIX = 'PublicKey'

/** What definitions make of a new service. */
export interface Definitions {
  /** The names that its organization begins with. */
  readonly names: Pick<ServiceOptions, 'rootUserName' | 'keyName' | 'organizationName'>
  /** Plans, carries out and approves until nothing is left. Throws `testing/not-applied`, `cli/refused`. */
  apply(applying: Applying): Promise<Pick<Started, 'keys' | 'ids'>>
}

/** Opens a folder of definitions. Throws `cli/no-definitions`. */
export function openDefinitions(folder: string): Definitions {
  const survey = surveyDefinitions(folder)
  const { rootUser, rootKey, organization } = survey
  return {
    names: {
      ...(rootUser === undefined ? {} : { rootUserName: rootUser }),
      ...(rootKey === undefined ? {} : { keyName: rootKey }),
      ...(organization === undefined ? {} : { organizationName: organization }),
    },
    apply: (applying) => applyFolder(folder, survey, applying),
  }
}

interface Applying extends Pick<QuorateOptions, 'vars' | 'env'> {
  readonly dataDir: string
  readonly bootstrap: Bootstrap
  readonly rootUserName: string
  readonly rootKey: NamedKey
  /** The time of the service. */
  readonly now: () => Promise<number>
}

async function applyFolder(folder: string, survey: Survey, applying: Applying): Promise<Pick<Started, 'keys' | 'ids'>> {
  const { dataDir, bootstrap, rootUserName, rootKey, vars = {}, env = {} } = applying
  const { organizationId, baseUrl } = bootstrap
  const keys = makeKeys(survey.vars, applying)
  const made = Object.entries(keys).map(([name, { publicKey }]) => [`${name}${SUFFIX}`, publicKey])
  const given = {
    env: { ...(survey.idVariable === undefined ? {} : { [survey.idVariable]: organizationId }), ...env },
    vars: { ...Object.fromEntries(made), ...vars },
  }
  const now = await applying.now()
  const place: Place = {
    baseUrl,
    organizationId,
    embedded: true,
    now: () => now,
    key: placeKey(keys[rootUserName] ?? rootKey),
    subOrganizationKeys: undefined,
    rate: createRate({}),
  }
  const clientFor = createClients(place, { dataDir })
  for (let round = 0; ; round++) {
    const diagnostics: Diagnostic[] = []
    const request = { folder, place, client: reader(place), given, dataDir, allow: [], askAgain: false }
    const planned = await planFolder(request, (event) => {
      if (event.kind === 'diagnostics') diagnostics.push(...event.diagnostics)
    })
    if (!planned) {
      throw notApplied(folder, renderDiagnostics(diagnostics.filter((one) => hasErrors([one]))).trim(), 'correct them')
    }
    const { plan } = planned
    if (!hasChanges(plan)) return { keys, ids: idsOf(planned.lock()[organizationId]) }
    assertAllowed(plan)
    // What is inside an organization that is not there yet is planned again once it is.
    const work = appliedPlans(plan).filter((one) => one.batches.length > 0 && !isStandIn(one.organization.id))
    if (work.length === 0 || round === MOST_ROUNDS) {
      const left = plan.subOrganizations?.find(({ comparedOnly }) => comparedOnly)?.organization.name
      const where = left === undefined ? '' : ` in sub-organization \`${left}\`, of whose users no key is at hand`
      throw notApplied(folder, `something is left to do${where}`, 'see it with `quorate up` and `quorate plan`')
    }
    for (const one of work) {
      const client = await clientFor(one.organization)
      const voters = Object.values(keys).map((key) =>
        submitter({ ...place, organizationId: one.organization.id, key: placeKey(key) }),
      )
      await carryOut(one, { client, voters, now, folder })
    }
  }
}

interface Acting {
  readonly client: SubmitClient
  readonly voters: readonly SubmitClient[]
  readonly now: number
  readonly folder: string
}

async function carryOut(plan: Plan, acting: Acting): Promise<void> {
  let ids = plan.ids
  for (const batch of plan.batches) {
    const { path, type } = activities[batch.type as ActivityType]
    const parameters = fillParameters(batch.parameters, ids)
    const organizationId = plan.organization.id
    const body = makeBody({ type, organizationId, parameters, timestampMs: acting.now })
    const activity = await approve(await acting.client.submit(path, body), acting)
    if (activity.status !== 'ACTIVITY_STATUS_COMPLETED') {
      const why = activity.failure?.message ?? `it is ${activity.status.replace('ACTIVITY_STATUS_', '')}`
      throw notApplied(acting.folder, `\`${batch.summary}\` did not complete: ${why}`, 'see it with `quorate up`')
    }
    ids = { ...ids, ...collectIds(batch, activity.result) }
  }
}

/** Votes with each key, as long as votes are waited for; who has none there is passed over. */
async function approve(activity: Wire.Activity, { voters, now }: Acting): Promise<Wire.Activity> {
  let current = activity
  for (const voter of voters) {
    if (current.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') break
    if (current.votes.some(({ publicKey }) => publicKey === voter.publicKey)) continue
    current = await castVote(voter, current.fingerprint, { vote: 'approve', now }).catch((error: unknown) => {
      if (error instanceof QuorateError) return current
      throw error
    })
  }
  return current
}

function makeKeys(names: readonly string[], { vars = {}, rootUserName, rootKey }: Applying): Record<string, NamedKey> {
  const wanted = names.filter((name) => name.endsWith(SUFFIX) && !Object.hasOwn(vars, name))
  const users = wanted.map((name) => name.slice(0, -SUFFIX.length)).filter((name) => name !== rootUserName)
  return { [rootUserName]: rootKey, ...Object.fromEntries(users.map((name) => [name, generateP256KeyPair()])) }
}

function placeKey({ publicKey, privateKey }: NamedKey): Place['key'] {
  return { publicKey, privateKey: new Secret(privateKey) }
}

/** What has an id of its own, by address. */
function idsOf(rows: Lock[string] = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([address, { id }]) => (id === undefined ? [] : [[address, id]])),
  )
}

function notApplied(folder: string, what: string, next: string): QuorateError {
  return new QuorateError('testing/not-applied', `the definitions of \`${folder}\` were not applied: ${what}`, { next })
}
