/** What a watch proposes and repairs inside sub-organizations, and what holds it: real worker, service and Temporal. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createPlanStore, type WatchState } from '../../activities/index.ts'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { applyId } from '../../src/operations/names.ts'
import { TEST_PAYLOAD_KEY } from '../payload-key.ts'
import { testBundle } from '../worker-runtime.ts'
import { createReplayer } from '../workflows/recorded.ts'
import { keyFile, quorateShared as quorate, testFolder, writeFiles } from './harness.ts'
import { connectScene, onlyTags, type Scene, scene } from './scene.ts'

const [ann, zoe] = [generateP256KeyPair(), generateP256KeyPair()]

const customer = (name: string, threshold: number) => `organization: ${name}
rootQuorum: { threshold: ${threshold}, users: [ann, zoe] }
tags: { vip: {} }
users:
  ann: { apiKeys: { k: { curve: P256, publicKey: ${ann.publicKey} } } }
  zoe: { apiKeys: { k: { curve: P256, publicKey: ${zoe.publicKey} } } }
`

async function until<T>(ask: () => Promise<T>, wanted: (found: T) => boolean): Promise<T> {
  for (const endsAt = Date.now() + 60_000; ; ) {
    const found = await ask()
    if (wanted(found)) return found
    if (Date.now() > endsAt) throw new Error(`never as wanted: ${JSON.stringify(found)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** An organization with three inside: `living`; `strict`, where two must approve; `apart`, for which the worker has no key. */
async function watchedInside(keys: string) {
  const more = { QUORATE_SUB_ORGANIZATION_KEYS: keys, QUORATE_PAYLOAD_KEY: TEST_PAYLOAD_KEY }
  const place = await scene({ more })
  const { root, client, organizationId } = place.service
  for (const name of ['living', 'strict']) keyFile(keys, name, ann.privateKey)
  const defs = writeFiles(join(place.folder, 'defs'), {
    'acme.yaml': onlyTags(['treasury']),
    'living/c.yaml': customer('living', 1),
    'strict/c.yaml': customer('strict', 2),
    'apart/c.yaml': customer('apart', 1),
  })
  await quorate(['apply', defs, '--yes'], place)
  const idOf = async (filterValue: string) =>
    (await root.query('list_suborgs', { filterType: 'NAME', filterValue })).organizationIds[0]!
  const ids = { living: await idOf('living'), strict: await idOf('strict'), apart: await idOf('apart') }
  const tagsIn = async (name: keyof typeof ids) =>
    (await root.query('list_user_tags', { organizationId: ids[name] })).userTags
  const waitingIn = async (name: keyof typeof ids) => {
    const filterByStatus = ['ACTIVITY_STATUS_CONSENSUS_NEEDED'] as const
    return (await root.query('list_activities', { organizationId: ids[name], filterByStatus })).activities
  }
  const vote = async (selection: 'APPROVE' | 'REJECT') => {
    const [waiting] = await until(
      () => waitingIn('strict'),
      (all) => all.length > 0,
    )
    const { fingerprint } = waiting!
    await client(zoe.privateKey).submit(
      `ACTIVITY_TYPE_${selection}_ACTIVITY`,
      { fingerprint },
      { organizationId: ids.strict },
    )
  }
  /** Has the apply of the strict one hear of a vote, and waits for its end. */
  const strictEnds = async () => {
    const temporal = await connectScene(place.env)
    const handle = temporal.client.workflow.getHandle(applyId(ids.strict))
    await handle.signal('nudge').catch(() => {})
    const { state } = (await handle.result()) as { readonly state: string }
    await temporal.close()
    return state
  }
  await vote('APPROVE')
  expect(await strictEnds()).toBe('done')
  const as = (name: keyof typeof ids) => ({ organizationId: ids[name] })
  await client(ann.privateKey).submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'vip', userIds: [] }, as('apart'))
  const { watches } = createPlanStore(join(place.env['QUORATE_DATA_DIR']!, 'plans'))
  const state = async () => (await watches.stateOf(organizationId))!
  return {
    ...place,
    defs,
    ids,
    tagsIn,
    vote,
    strictEnds,
    state,
    watch: async (mode: string) => {
      const added = await quorate(['watch', 'add', defs, '--every', '1h', '--kind', `tags=${mode}`], place)
      expect(added.exit, added.stderr).toBe(0)
    },
    /** Deletes the tag, as somebody by hand. */
    remove: async (name: keyof typeof ids) => {
      const userTagIds = (await tagsIn(name)).map(({ tagId }) => tagId)
      await client(ann.privateKey).submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds }, as(name))
    },
    /** Has all read again, as a webhook of something inside would, until that finds what is wanted. */
    look: async (wanted: (state: WatchState) => boolean) => {
      const before = await state()
      for (const endsAt = Date.now() + 60_000; Date.now() < endsAt; ) {
        const since = (await state())?.lookedAt ?? ''
        await root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: crypto.randomUUID(), userIds: [] })
        await quorate(['watch', 'run'], place)
        const found = await until(state, (now) => (now?.lookedAt ?? '') > since)
        expect(found.error).toBeUndefined()
        if (wanted(found)) return found
      }
      throw new Error(`never as wanted: ${JSON.stringify([before, await state()])}`)
    },
  }
}

/** The histories of the last looks replay. */
async function replayLooks({ env, service }: Scene): Promise<void> {
  const temporal = await connectScene(env)
  const replayer = createReplayer(await testBundle())
  try {
    const { client, namespace } = temporal
    const scheduleId = `reconcile/${service.organizationId}`
    const { info } = await client.workflowService.describeSchedule({ namespace, scheduleId })
    const looks = (info?.recentActions ?? []).map((one) => one.startWorkflowResult!.workflowId!)
    let replayed = 0
    for (const workflowId of looks) {
      const handle = client.workflow.getHandle(workflowId)
      await handle.result()
      const { events } = await handle.fetchHistory()
      const began = (events ?? []).flatMap(
        (one) => one.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name ?? [],
      )
      if (began.includes('applyInside')) replayed++
      await replayer.replayOf(handle, began.includes('applyInside') ? 'reconcile-repair-inside' : undefined)
    }
    expect(replayed).toBeGreaterThan(0)
  } finally {
    await replayer.close()
    await temporal.close()
  }
}

const rows = ({ drift }: WatchState) => drift.map(({ address, mode }) => `${address} ${mode}`).toSorted()

test('what is inside is proposed, and applied by a person; where the worker has no key there, it is reported', async () => {
  const place = await watchedInside(testFolder())
  await place.remove('living')
  await place.remove('apart')
  await place.watch('propose')
  const { proposal } = await place.look(({ drift }) => drift.length === 2)
  const found = await place.state()
  expect(rows(found)).toEqual(['apart/tag.vip report', 'living/tag.vip propose'])
  expect(found.repair).toBeUndefined()
  expect(await place.tagsIn('living')).toEqual([])
  const applied = await quorate(['apply', `sha256:${proposal}`, '--yes'], place)
  expect(applied.exit, applied.stdout + applied.stderr).toBe(0)
  expect(await place.tagsIn('living')).toHaveLength(1)
  expect(await place.tagsIn('apart')).toEqual([])
  const after = await place.look(({ drift }) => drift.length === 1)
  expect([rows(after), after.proposal]).toEqual([['apart/tag.vip report'], undefined])
})

test('what is inside is repaired, each by itself: one that waits or was rejected holds no other, and a loop is held', async () => {
  const place = await watchedInside(testFolder())
  const { root, client } = place.service
  const isBack = (name: 'living' | 'strict') =>
    until(
      () => place.tagsIn(name),
      (tags) => tags.length === 1,
    )
  // Nothing is waited for by the strict one's removal but zoe.
  await place.remove('strict')
  await place.vote('APPROVE')
  await place.remove('living')
  const { userTags } = await root.query('list_user_tags')
  await root.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: userTags.map(({ tagId }) => tagId) })
  await place.watch('repair')
  const first = await until(place.state, (state) => state?.repair?.begun === true)
  expect(first.repair!.addresses).toEqual(['living/tag.vip', 'strict/tag.vip', 'tag.treasury'])
  await isBack('living')

  // It waits for zoe, and is not asked for again; what is done is told as done.
  const waits = await place.look(({ drift }) => drift.length === 1)
  expect([rows(waits), waits.applyingInside]).toEqual([['strict/tag.vip repair'], [place.ids.strict]])
  await place.vote('REJECT')
  expect(await place.strictEnds()).toBe('rejected')

  const rejected = await place.look(({ held }) => held !== undefined)
  expect(rejected.held).toMatchObject({ code: 'cli/rejected', why: expect.stringMatching(/^in strict: /) })
  for (const times of [2, 3]) {
    await place.remove('living')
    const { repair, held } = await place.look(({ repair }) => repair?.addresses.join() === 'living/tag.vip')
    expect([times, repair?.addresses, held?.code]).toEqual([times, ['living/tag.vip'], 'cli/rejected'])
    await isBack('living')
  }
  await place.remove('living')
  const held = await place.look(({ held }) => held?.why.includes('living') === true)
  expect(held.held).toMatchObject({
    code: 'apply/heal-loop',
    why: expect.stringMatching(/^living\/tag\.vip: .* and 1 more$/),
  })
  expect(await place.tagsIn('living')).toEqual([])
  const { activities } = await client(zoe.privateKey).query('list_activities', {
    organizationId: place.ids.strict,
    filterByStatus: ['ACTIVITY_STATUS_CONSENSUS_NEEDED'],
  })
  expect(activities).toEqual([])
  await replayLooks(place)
})
