/**
 * The fourth family of incidents: what was applied was not what was planned. A plan carries what it does; it is carried
 * out as it stands or not at all, where it was made for, while the world is as it was, and once.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ApplyProgress } from '../../activities/index.ts'
import { forecast } from '../../src/analysis/index.ts'
import { makePlan, readPlan, sealed, writePlan } from '../../src/plan/index.ts'
import { countActivities, environmentOf, quorateShared as quorate, writeFiles } from '../cli/harness.ts'
import { onlyTags, scene } from '../cli/scene.ts'
import { acme } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'
import { startTestService } from '../service/harness.ts'
import { temporalOf } from '../temporal.ts'
import { openStages, type Stage, states } from '../workflows/harness.ts'

/** A saved plan that makes the tag `one`. */
async function saved() {
  const made = await scene()
  const { folder, env } = made
  const defs = writeFiles(join(folder, 'defs'), { 'a.yaml': onlyTags(['one']) })
  const file = join(folder, 'plan.json')
  const planned = await quorate(['plan', defs, '--out', file, '--detailed-exitcode'], { env })
  expect(planned.exit).toBe(2)
  return { ...made, defs, file }
}

const outcomeOf = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout) as ApplyProgress

describe('other than planned: definitions', () => {
  test('what changed in them after the plan is not applied, and a plan is spent once whatever the world does', async () => {
    const { service, env, defs, file } = await saved()
    writeFiles(defs, { 'a.yaml': onlyTags(['two', 'three']), 'b.yaml': 'tags: { four: ' })
    const first = await quorate(['apply', file, '--json'], { env })
    expect(outcomeOf(first)).toMatchObject({ state: 'done', batches: [{ state: 'completed' }] })
    const { userTags } = await service.root.query('list_user_tags')
    expect(userTags.map(({ tagName }) => tagName)).toEqual(['one'])

    // Applied again, it says what came of it first, also when what it made is gone, and the definitions with it.
    rmSync(defs, { recursive: true })
    const second = await quorate(['apply', file, '--json'], { env })
    expect(outcomeOf(second)).toEqual(outcomeOf(first))
    await service.root.submit('ACTIVITY_TYPE_DELETE_USER_TAGS', { userTagIds: [userTags[0]!.tagId] })
    const before = await countActivities(service)
    const third = await quorate(['apply', file, '--json'], { env })
    expect([third.exit, await countActivities(service)]).toEqual([0, before])
    expect(outcomeOf(third)).toEqual(outcomeOf(first))

    // Planned anew for the same world, it is another plan, though it says the same.
    writeFiles(defs, { 'a.yaml': onlyTags(['one']) })
    const anew = await quorate(['apply', defs, '--yes', '--json'], { env })
    expect([anew.exit, await countActivities(service)]).toEqual([0, before + 1])
    expect(outcomeOf(anew).planDigest).toBe(outcomeOf(first).planDigest)
  })
})

describe('other than planned: another world', () => {
  test('live state that moved makes the plan stale, and says what moved', async () => {
    const { service, env, file } = await saved()
    await service.root.submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: 'one', userIds: [] })
    const stale = await quorate(['apply', file], { env })
    expect(stale.stdout + stale.stderr).toContain('tag.one')
    expect(stale.exit).toBe(5)
    expect(await countActivities(service)).toBe(1)
  })

  test('in another organization, or edited, it is refused before anything is submitted', async () => {
    const { service, folder, env, file } = await saved()
    const other = await startTestService()
    const elsewhere = environmentOf(other, folder, other.root.privateKey, temporalOf(env))
    const foreign = await quorate(['apply', file], { env: elsewhere })
    expect(foreign.stderr).toContain('error cli/other-organization')
    expect([foreign.exit, await countActivities(other)]).toEqual([1, 0])
    await other.close()

    const edited = join(folder, 'edited.json')
    writeFileSync(edited, readFileSync(file, 'utf8').replace('"one"', '"two"'))
    const refused = await quorate(['apply', edited], { env })
    expect(refused.stderr).toContain('error plan/edited')
    expect(refused.stderr).toMatch(/submitted:? +nothing/)
    expect([refused.exit, await countActivities(service)]).toEqual([1, 0])
  })
})

describe('other than planned: edits', () => {
  test('of one byte at each of 500 places are refused: replaced, put in, taken out, or cut off there', () => {
    const input = planInput({ desired: acme() })
    const file = writePlan(sealed(forecast(makePlan(input).plan, input)))
    expect(readPlan(file).digest).toMatch(/^[0-9a-f]{64}$/)
    const bytes = ['0', 'a', '"', '{', '}', '[', ']', ',', ':', ' ', '\n', '\\', 'x']
    const figures = { edits: 0, refused: 0 }
    for (let n = 0; n < 500; n++) {
      const at = Math.floor((n * (file.length - 1)) / 500)
      const byte = bytes[n % bytes.length]!
      const [head, tail] = [file.slice(0, at), file.slice(at)]
      for (const text of [head + byte + tail.slice(1), head + byte + tail, head + tail.slice(1), head]) {
        if (text === file) continue
        figures.edits++
        expect(() => readPlan(text), `${n} at ${at}`).toThrow(
          expect.objectContaining({ code: expect.stringMatching(/^plan\/(edited|foreign-format)$/) }),
        )
        figures.refused++
      }
    }
    console.log(`edits=${figures.edits} refused=${figures.refused}`)
    expect(figures.edits).toBeGreaterThan(1_900)
  })

  test('in the plan store while it is applied stop it before the next submit', async () => {
    const stages = await openStages()
    const stage: Stage = await stages.create({
      activities: (usual) => ({
        submitRequest: async (input) => {
          const state = await usual.submitRequest(input)
          const folder = join(stage.storeFolder, 'plans')
          for (const path of readdirSync(folder).map((name) => join(folder, name))) {
            writeFileSync(path, readFileSync(path, 'utf8').replace('"userTagName":"b"', '"userTagName":"evil"'))
          }
          return state
        },
      }),
    })
    const run = await stage.startApply([{ name: 'a' }, { name: 'b', after: ['a'] }, { name: 'c', after: ['b'] }])
    const result = await run.ended()
    expect(states(result)).toEqual(['completed', 'failed', 'skipped'])
    expect(result.batches[1]!.error).toMatchObject({ code: 'apply/plan-edited' })
    expect(stage.api.activities.map(({ parameters }) => parameters.userTagName)).toEqual(['a'])
    await stage.close()
    await stages.close()
  })
})
