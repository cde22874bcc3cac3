import { ClientError, type SubmitClient } from '../src/client/index.ts'
import { makeBody } from '../src/plan/index.ts'
import { activities as catalogue, type Json, type Wire } from '../src/protocol/index.ts'
import type { Secret } from '../src/telemetry/index.ts'
import { assertActsAs } from './acting-user.ts'
import { describeActivity } from './activity-state.ts'
import { asksFor, makeVoteBody, type RequestedBody } from './body.ts'
import type { ActivityDependencies, RotationDependencies } from './dependencies.ts'
import { ApplyError } from './error.ts'
import { findByIntent } from './intent.ts'
import type { ActivityState, Prepared } from './model.ts'
import { noteRotation } from './notify.ts'
import { createRotationKeys } from './rotation-keys.ts'
import { type RotationOrder, type RotationPart, type RotationProgress, STORE_AWAY_MS } from './rotation-model.ts'
import { assertTakes, handTo, sinkInWords } from './rotation-sinks.ts'
import { isStale, staleBody } from './stale.ts'

interface OfRotation {
  readonly rotationId: string
}

/** One activity of a rotation. */
export interface RotationStep extends OfRotation {
  readonly part: RotationPart
}

/** The parts of an order that the workflow decides by. */
export interface RotationOutline {
  readonly user: string
  readonly key: string
  readonly old: RotationProgress['old']
  readonly drops: boolean
  readonly overlapMs: number
  /** The end of a rotation that is over: a workflow that somebody reset at Temporal ends in the same way again. */
  readonly ended?: RotationProgress
}

/**
 * The steps of the rotation workflow. Each may run several times without harm. Each checks by itself that it may run: of the workflow
 * it believes only which step is next. No private key is in the input or the answer of any of them.
 */
export interface RotationActivities {
  loadRotation(input: OfRotation & { readonly organizationId: string }): Promise<RotationOutline>
  /** Makes the new key pair, unless there is one, and returns the public key. */
  makeRotationKey(input: OfRotation): Promise<{ readonly publicKey: string }>
  /** Finds an activity that asks for the same, or makes the body and stores it before anything is sent. */
  prepareRotation(input: RotationStep & { readonly timestampMs: number }): Promise<Prepared>
  /** Sends the stored bytes; a repetition is answered with the same activity. */
  submitRotation(input: RotationStep): Promise<ActivityState>
  /** Asks once where the activity stands. */
  pollRotation(input: RotationStep): Promise<ActivityState>
  /** Approves the activity again as the acting user, after its votes have lapsed. */
  voteForRotation(input: RotationStep & { readonly timestampMs: number }): Promise<ActivityState>
  /** Asks `whoami` with the new key; the API must answer with the user. Returns the key's id. */
  verifyRotation(input: OfRotation): Promise<{ readonly id: string }>
  /** Hands the new key to its sink. */
  handOverKey(input: OfRotation): Promise<{ readonly handedAtMs: number }>
  /** Makes sure that the API refuses the old key. */
  proveRotation(input: OfRotation): Promise<Pick<RotationProgress, 'proof'>>
  /** Records the progress; at the end it deletes the private keys that it has kept. */
  recordRotation(input: { readonly progress: RotationProgress }): Promise<void>
}

export function createRotationActivities(deps: ActivityDependencies): RotationActivities {
  const { planStore, logger, rotation, serviceAheadMs = () => 0 } = deps
  const ledger = planStore.rotations
  const clock = () => deps.clock() + serviceAheadMs()
  const keys = createRotationKeys(rotation?.keysFolder ?? '')
  const opened = (): RotationDependencies => {
    if (rotation) return rotation
    throw new ApplyError('rotate/refused', 'this worker has no folder for the keys of rotations')
  }

  const getOpen = async (rotationId: string): Promise<RotationOrder> => {
    const order = await ledger.getOrder(rotationId)
    if ((await ledger.marked(rotationId, 'over')) !== undefined) throw refused('this rotation is over')
    return order
  }
  /** The last progress of a rotation that has ended; undefined while it is open, and if it was given up or never begun. */
  const endOf = async (rotationId: string): Promise<RotationProgress | undefined> => {
    const over = await ledger.marked(rotationId, 'over')
    const progress = over === undefined ? undefined : await ledger.getProgress(rotationId)
    return progress?.state === over ? progress : undefined
  }
  const withNewKey = (order: RotationOrder) =>
    opened().clientWith(order.organization, keys.get(order.rotationId).privateKey)
  /** The client that submits: where a key rotates itself, with the new key as soon as that was handed over. */
  const clientOf = async (order: RotationOrder): Promise<SubmitClient> => {
    const own = await deps.clientFor(order.organization)
    const isItself = own.publicKey.toLowerCase() === order.key.publicKey
    return isItself && (await ledger.marked(order.rotationId, 'handed')) !== undefined ? withNewKey(order) : own
  }
  const assertOwn = ({ rotationId, by, key, user }: RotationOrder, client: SubmitClient) =>
    assertActsAs(client, by, {
      what: `the rotation of \`${key.name}\` of \`${user.name}\` was begun by`,
      async note(error) {
        const progress = await ledger.getProgress(rotationId)
        if (progress !== undefined) await ledger.putProgress({ ...progress, error })
      },
    })
  const newIdOf = async (rotationId: string) => (await ledger.part(rotationId, 'create').produced())?.[NEW_KEY]

  const open = async ({ rotationId, part }: RotationStep) => {
    const order = await getOpen(rotationId)
    return { order, part, records: ledger.part(rotationId, part), client: await clientOf(order) }
  }
  type Open = Awaited<ReturnType<typeof open>>
  /** The same for a step that acts with the key. */
  const openToAct = async (step: RotationStep): Promise<Open> => {
    const one = await open(step)
    await assertOwn(one.order, one.client)
    return one
  }
  const take = async (activity: Wire.Activity, { order, client, records, part }: Open): Promise<ActivityState> => {
    const { publicKey } = client
    const state = describeActivity(activity, { publicKey, userId: order.by?.userId, nowMs: clock() })
    await records.setActivity(activity.id)
    if (state.state === 'completed') {
      const id = activity.result?.createApiKeysResult?.apiKeyIds[0]
      await records.setDone(part === 'create' && id !== undefined ? { [NEW_KEY]: id } : {})
    }
    return state
  }
  const readOwn = async ({ client, records, part }: Open): Promise<Wire.Activity> => {
    const activityId = await records.activityId()
    if (activityId === undefined) throw refused(`nothing was submitted to ${part}`)
    return (await client.query('get_activity', { activityId })).activity
  }

  /** The request of an activity; throws unless the rotation is at the point where it may be submitted. */
  const askedOf = async (order: RotationOrder, part: RotationPart): Promise<RequestedBody> => {
    const { rotationId, user, key, organization, drop, expiresIn } = order
    const deletion = (id: string): RequestedBody => ({
      type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
      organizationId: organization.id,
      parameters: { userId: user.id, apiKeyIds: [id] },
    })
    if (part === 'drop') {
      if (!drop) throw refused('no key is to be dropped')
      return deletion(drop.id)
    }
    if (part === 'create') {
      const publicKey = await ledger.marked(rotationId, 'public-key')
      if (publicKey === undefined) throw refused('there is no new key yet')
      const created = {
        apiKeyName: key.name,
        publicKey,
        curveType: 'API_KEY_CURVE_P256',
        ...(expiresIn === undefined ? {} : { expirationSeconds: String(expiresIn) }),
      }
      const parameters = { userId: user.id, apiKeys: [created] } as Json
      return { type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', organizationId: organization.id, parameters }
    }
    if (part === 'undo') {
      const id = await newIdOf(rotationId)
      if (id === undefined) throw refused('there is no new key to take away')
      if ((await ledger.marked(rotationId, 'handed')) !== undefined) throw refused('the new key has taken its place')
      if (await mayBeIn(rotationId)) throw refused('its sink may have the new key, so both keys stay')
      // INVARIANT: only one of the two keys is ever deleted.
      if ((await ledger.mark(rotationId, 'path', 'undo')) !== 'undo') throw refused('the old key is being deleted')
      return deletion(id)
    }
    await assertMayDelete(order)
    if ((await ledger.mark(rotationId, 'path', 'delete')) !== 'delete') throw refused('the new key is being taken away')
    return deletion(key.id)
  }

  const assertMayDelete = async ({ rotationId, overlapMs }: RotationOrder): Promise<void> => {
    const handed = await ledger.marked(rotationId, 'handed')
    if ((await ledger.marked(rotationId, 'verified')) === undefined || handed === undefined)
      throw refused('the new key has not proved good')
    if (deps.clock() < Number(handed) + overlapMs) {
      throw new ApplyError('rotate/overlap', 'the overlap has not passed yet')
    }
  }

  /** Whether the sink was given the new key and has not said at once that it does not have it. */
  const mayBeIn = async (rotationId: string) =>
    (await ledger.marked(rotationId, 'offered')) !== undefined &&
    (await ledger.marked(rotationId, 'refused')) === undefined

  /** Throws `rotate/sink-failed` if the sink could not be reached for longer than the order allows, and has never been sent the key. */
  const assertStillWaits = async ({ rotationId, sink, awayMs = STORE_AWAY_MS }: RotationOrder): Promise<void> => {
    const sinceMs = Number(await ledger.marked(rotationId, 'verified'))
    // INVARIANT: a key that the sink may have is not deleted, or the program that reads the sink would have no key that works.
    if (sink.kind !== 'store' || (await ledger.marked(rotationId, 'offered')) !== undefined) return
    if (deps.clock() < sinceMs + awayMs) return
    const since = new Date(sinceMs).toISOString()
    const why = `it was asked since ${since} and did not answer; both keys were valid until now`
    throw new ApplyError('rotate/sink-failed', `${sinkInWords(sink)} did not take the new key: ${why}`)
  }

  /** Throws `rotate/unverified` unless the API accepts the new key as one of the user. */
  const verify = async (order: RotationOrder): Promise<void> => {
    const client = withNewKey(order)
    const caller = await client.query('whoami', {}).catch((error: unknown) => {
      if (!(error instanceof ClientError) || error.retryable) throw error
      throw new ApplyError('rotate/unverified', `the API refuses the new key: ${error.message}`, { cause: error })
    })
    if (caller.userId === order.user.id) return
    throw new ApplyError('rotate/unverified', `the API takes the new key for ${caller.username}’s`)
  }

  return {
    async loadRotation({ rotationId, organizationId }) {
      const { organization, user, key, drop, overlapMs } = await ledger.getOrder(rotationId)
      if (organization.id !== organizationId) throw refused('it is of another organization')
      const ended = await endOf(rotationId)
      if (ended === undefined) await getOpen(rotationId)
      const old = { id: key.id, publicKey: key.publicKey }
      const outline = { user: user.name, key: key.name, old, drops: drop !== undefined, overlapMs }
      // From here on the rotation is listed, even if its workflow is terminated before it has recorded anything.
      if (ended === undefined && (await ledger.getProgress(rotationId)) === undefined) {
        const startedAt = new Date(deps.clock()).toISOString()
        const state = drop ? 'dropping' : 'creating'
        await ledger.putProgress({ rotationId, user: user.name, key: key.name, state, old, activities: {}, startedAt })
      }
      return ended === undefined ? outline : { ...outline, ended }
    },

    async makeRotationKey({ rotationId }) {
      const order = await getOpen(rotationId)
      const { sink } = order
      opened()
      // The private key is made where it is handed over: in the data folder of one worker.
      await assertOwn(order, await deps.clientFor(order.organization))
      if ((await ledger.marked(rotationId, 'public-key')) === undefined) assertTakes(sink)
      const { publicKey } = keys.make(rotationId)
      if ((await ledger.mark(rotationId, 'public-key', publicKey)) !== publicKey) {
        throw new ApplyError('rotate/key-missing', 'the new private key is not the one that was made first')
      }
      return { publicKey }
    },

    async prepareRotation({ timestampMs, ...step }) {
      const one = await openToAct(step)
      const { order, part, records, client } = one
      const asked = await askedOf(order, part)
      const own = await records.activityId()
      const found = own === undefined ? await findByIntent(client, asked.type, asked.parameters) : await readOwn(one)
      // A request that was rejected before is submitted again only with `--ask-again`. The new key cannot have been rejected yet.
      const isAskedAgain = own === undefined && order.askAgain && found?.status === 'ACTIVITY_STATUS_REJECTED'
      if (found && !isAskedAgain) return { kind: 'found', activity: await take(found, one) }
      if (part === 'delete') await verify(order)
      // The key that makes room goes for nothing where the new one can be put nowhere.
      if (part === 'drop') assertTakes(order.sink)
      const made =
        (await records.body()) ??
        (await planStore.putBody(makeBody({ ...asked, timestampMs: timestampMs + serviceAheadMs() })))
      // INVARIANT: the bytes are on disk before anything is sent, so that every retry has the same ones to send.
      return { kind: 'made', fingerprint: await records.enterBody(made) }
    },

    async submitRotation(step) {
      const one = await openToAct(step)
      const { order, part, records, client } = one
      const fingerprint = await records.body()
      if (fingerprint === undefined) throw new ApplyError('apply/body-missing', 'no body was made for this step')
      const body = await planStore.getBody(fingerprint)
      const asked = await askedOf(order, part)
      if (!asksFor(body, asked)) {
        throw new ApplyError('apply/body-refused', `body \`${fingerprint}\` does not say what the rotation does`)
      }
      const path = catalogue[asked.type as keyof typeof catalogue].path
      const activity = await client.submit(path, body).catch(async (error: unknown) => {
        if (!isStale(error, body, clock())) throw error
        await records.refuseBody(fingerprint)
        throw staleBody(error)
      })
      logger.info('submitted', { activityId: activity.id, type: activity.type, status: activity.status, fingerprint })
      return take(activity, one)
    },

    async pollRotation(step) {
      const one = await open(step)
      return take(await readOwn(one), one)
    },

    async voteForRotation({ timestampMs, ...step }) {
      const one = await openToAct(step)
      const activity = await readOwn(one)
      const asked = await askedOf(one.order, one.part)
      // INVARIANT: an approval is for bytes that were made for this rotation, or for the very same request.
      if (!(await one.records.hasBody(activity.fingerprint))) {
        const equal = await findByIntent(one.client, asked.type, asked.parameters)
        if (equal?.id !== activity.id) {
          throw new ApplyError('apply/vote-refused', `activity ${activity.id} does not ask for what the rotation does`)
        }
      }
      const now = await take(activity, one)
      if (!now.needsVote) return now
      const body = makeVoteBody(one.order.organization.id, {
        fingerprint: activity.fingerprint,
        timestampMs: timestampMs + serviceAheadMs(),
      })
      return take(await one.client.submit(catalogue.ACTIVITY_TYPE_APPROVE_ACTIVITY.path, body), one)
    },

    async verifyRotation({ rotationId }) {
      const order = await getOpen(rotationId)
      const id = await newIdOf(rotationId)
      if (id === undefined) throw refused('the new key is not registered')
      await verify(order)
      await ledger.mark(rotationId, 'verified', String(deps.clock()))
      return { id }
    },

    async handOverKey({ rotationId }) {
      const order = await getOpen(rotationId)
      if ((await ledger.marked(rotationId, 'verified')) === undefined) throw refused('the new key has not proved good')
      if ((await ledger.marked(rotationId, 'path')) === 'undo') throw refused('the new key is being taken away')
      const before = await ledger.marked(rotationId, 'handed')
      const own = await deps.clientFor(order.organization)
      await assertOwn(order, own)
      const key = keys.get(rotationId)
      const isItself = own.publicKey.toLowerCase() === order.key.publicKey
      const refusal = before === undefined ? await ledger.marked(rotationId, 'refused') : undefined
      // Said before, by a worker that died: the key may be taken away, so nobody is given it any more.
      if (refusal !== undefined) throw new ApplyError('rotate/sink-failed', refusal)
      if (before === undefined) {
        // INVARIANT: before a key is written over, it is kept until the API has deleted it.
        const replacing = (replaced: Secret) => {
          const isOld = opened().clientWith(order.organization, replaced).publicKey === order.key.publicKey
          if (isOld) keys.keepOld(rotationId, replaced)
        }
        await handTo(order.sink, key, {
          named: { user: order.user.name, key: order.key.name },
          replacing,
          tools: opened().stores ?? { environment: {} },
          wasOffered: (await ledger.marked(rotationId, 'offered')) !== undefined,
          async offering() {
            await ledger.mark(rotationId, 'offered', String(deps.clock()))
            // Of two that do this step at once, one may have been refused meanwhile.
            if ((await ledger.marked(rotationId, 'path')) === 'undo') throw refused('the new key is being taken away')
          },
        }).catch(async (error: unknown) => {
          if (error instanceof ApplyError && error.code === 'rotate/sink-failed')
            await ledger.mark(rotationId, 'refused', error.message)
          await assertStillWaits(order)
          throw error
        })
      }
      const handedAtMs = Number(await ledger.mark(rotationId, 'handed', String(deps.clock())))
      if (isItself) opened().useKey(key.privateKey)
      return { handedAtMs }
    },

    async proveRotation({ rotationId }) {
      const order = await getOpen(rotationId)
      if ((await ledger.part(rotationId, 'delete').produced()) === undefined) throw refused('no key was deleted')
      const client = withNewKey(order)
      const { apiKeys } = await client.query('get_api_keys', { userId: order.user.id })
      const old = keys.getOld(rotationId)
      const newId = await newIdOf(rotationId)
      if (!apiKeys.some(({ apiKeyId }) => apiKeyId === newId)) {
        throw new ApplyError('rotate/unproved', 'the list of the user’s keys does not have the new one, which works')
      }
      const isListed = apiKeys.some(({ apiKeyId }) => apiKeyId === order.key.id)
      if (isListed || (old && (await accepts(opened().clientWith(order.organization, old))))) {
        throw new ApplyError('rotate/still-accepted', `the API still takes the key ${order.key.publicKey}`)
      }
      return { proof: old ? 'refused' : 'not registered' }
    },

    async recordRotation({ progress }) {
      const { rotationId, state } = progress
      const order = await getOpen(rotationId)
      const oldIsDeleted = (await ledger.part(rotationId, 'delete').produced()) !== undefined
      if (state === 'done' && !oldIsDeleted) throw refused('no key was deleted')
      await ledger.putProgress(progress)
      if (state !== 'done' && state !== 'failed' && state !== 'partial') return
      const tookPlace = (await ledger.marked(rotationId, 'handed')) !== undefined
      if (rotation) keys.forget(rotationId, tookPlace && !oldIsDeleted ? 'new' : 'both')
      await noteRotation(deps, order, progress)
      await ledger.mark(rotationId, 'ended', String(deps.clock()))
      await ledger.mark(rotationId, 'over', state)
    },
  }
}

/** The name under which the ledger keeps the id of the new key, among the ids that an activity gave. */
const NEW_KEY = 'apiKey.new'

/** Whether the API accepts a key; throws errors that say neither yes nor no. */
async function accepts(client: SubmitClient): Promise<boolean> {
  try {
    await client.query('whoami', {})
    return true
  } catch (error) {
    if (error instanceof ClientError && error.code === 'client/unauthenticated') return false
    throw error
  }
}

function refused(why: string): ApplyError {
  return new ApplyError('rotate/refused', `a workflow asked for a step of a rotation, and ${why}`, {
    facts: { submitted: 'nothing by this step' },
  })
}
