/** Power taken out of Git is taken away: the command line as a process, against a real service and a real Temporal server. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { countActivities, quorateShared as quorate, writeFiles } from '../cli/harness.ts'
import { onlyTags, scene } from '../cli/scene.ts'
import { startWorker } from '../cli/started-worker.ts'
import { createTestUser } from '../service/harness.ts'

const CONSENSUS_NEEDED = 'ACTIVITY_STATUS_CONSENSUS_NEEDED'
const bob = generateP256KeyPair()
const LOOSE = `policies:
  signers: { effect: allow, consensus: "approvers.count() >= 1", condition: "activity.action == 'SIGN'" }
`
const TIGHT = `policies:
  signers-by-two: { effect: allow, consensus: "approvers.count() >= 2", condition: "activity.action == 'SIGN'" }
`
const bobWith = (tags: string) => `users:
  bob: { ${tags}apiKeys: { laptop: { curve: P256, publicKey: ${bob.publicKey} } } }
`

describe('removal', () => {
  test('a policy renamed while it is tightened, a file with a user: nothing stays live in silence, and what is forgotten says so', async () => {
    const { service, folder, env } = await scene()
    const defs = writeFiles(join(folder, 'defs'), {
      'acme.yaml': onlyTags(['one', 'two', 'three', 'four']),
      'policies.yaml': LOOSE,
      'people.yaml': bobWith('tags: [one], '),
    })
    const lock = () => readFileSync(join(defs, 'quorate.lock.yaml'), 'utf8')
    const policies = async () => (await service.root.query('list_policies')).policies.map((one) => one.policyName)
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    expect(await policies()).toEqual(['signers'])
    const before = await countActivities(service)

    writeFiles(defs, { 'policies.yaml': TIGHT })
    const planned = await quorate(['plan', defs], { env })
    expect(planned.stdout).not.toContain('No changes.')
    expect(planned.stdout).toMatch(/- policy\.signers +.*quorate\.lock\.yaml:\d+:3, taken out of the definitions/)
    expect(planned.exit).toBe(4)
    const refused = await quorate(['apply', defs, '--yes'], { env })
    expect(refused.exit).toBe(4)
    expect(await countActivities(service)).toBe(before)
    expect(lock()).toContain('policy.signers:')

    const allowed = ['--allow-delete', '--allow', 'deletes=1']
    const detailed = await quorate(['plan', defs, '--detailed-exitcode', ...allowed], { env })
    expect(detailed.exit).toBe(2)
    const applied = await quorate(['apply', defs, '--yes', ...allowed], { env })
    expect(applied.exit).toBe(0)
    expect(await policies()).toEqual(['signers-by-two'])
    expect(lock()).not.toContain('policy.signers:')
    expect((await quorate(['plan', defs, '--detailed-exitcode'], { env })).exit).toBe(0)

    // A field alone, taken out: set back, and then managed no more.
    writeFiles(defs, { 'people.yaml': bobWith('') })
    const untagged = await quorate(['apply', defs, '--yes'], { env })
    expect(untagged.stdout).toMatch(/~ user\.bob +.*its definition changed\n +tags +one → \(none\)/)
    expect(untagged.exit).toBe(0)
    const bobs = (await service.root.query('list_users')).users.filter(({ userName }) => userName === 'bob')
    expect(bobs.map(({ userTags }) => userTags)).toEqual([[]])
    expect(lock()).toMatch(/user\.bob: \S+ sha256:[0-9a-f]{24} -\n/)

    rmSync(join(defs, 'people.yaml'))
    const asked = await quorate(['plan', defs], { env })
    expect(asked.stdout).toMatch(
      /\? user\.bob +.*quorate\.lock\.yaml:\d+:3, taken out of the definitions, and still live/,
    )
    expect(asked.stdout).not.toContain('No changes.')
    expect(asked.stdout).toContain('`delete: true`')
    expect(asked.stdout).toContain('`forget:`')
    expect(asked.exit).toBe(4)
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(4)

    writeFiles(defs, { 'forget.yaml': 'forget: [user.bob]\n' })
    const handed = await quorate(['apply', defs, '--yes'], { env })
    expect(handed.stdout).toMatch(/≠ user\.bob .*handed back: it stays live and is managed no longer/)
    expect(handed.exit).toBe(0)
    expect(lock()).not.toContain('bob')
    expect((await service.root.query('list_users')).users.map(({ userName }) => userName)).toContain('bob')
    const last = await quorate(['plan', defs], { env })
    expect(last.stdout).toContain('No changes.')
    expect((await quorate(['unmanaged', defs], { env })).stdout).toContain('user.bob')
  })

  test('what an apply made that nobody saw end is known to be ours: one in the background, and one whose worker was killed', async () => {
    const { service, folder, env, stopWorker } = await scene()
    const defs = join(folder, 'defs')
    const tags = (names: readonly string[]) => writeFiles(defs, { 'acme.yaml': onlyTags(names) })
    const plan = () => quorate(['plan', defs], { env })
    tags(['one', 'two', 'three', 'four'])
    expect((await quorate(['apply', defs, '--yes', '--detach'], { env })).exit).toBe(0)
    expect((await quorate(['status', '--follow'], { env })).exit).toBe(0)
    expect(existsSync(join(defs, 'quorate.lock.yaml'))).toBe(false)

    tags(['two', 'three', 'four'])
    expect((await plan()).stdout).toMatch(/- tag\.one .*taken out of the definitions/)
    const gone = await quorate(['apply', defs, '--yes', '--allow-delete'], { env })
    expect(gone.exit).toBe(0)
    expect((await plan()).stdout).toContain('No changes.')
    // Handed back, it is not taken for ours by what was kept of the apply that made it.
    writeFiles(defs, { 'acme.yaml': `${onlyTags(['three', 'four'])}forget: [tag.two]\n` })
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(0)
    tags(['three', 'four'])
    expect((await plan()).stdout).toContain('No changes.')

    const bob = await createTestUser(service, 'bob')
    const userIds = [service.rootUserId, bob.userId]
    await service.root.submit('ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', { threshold: 2, userIds })
    await stopWorker()
    const killed = await startWorker(env)
    tags(['three', 'four', 'five'])
    expect((await quorate(['apply', defs, '--yes'], { env })).exit).toBe(3)
    await killed.kill()
    const [waiting] = (await service.root.query('list_activities', { filterByStatus: [CONSENSUS_NEEDED] })).activities
    await bob.client.approve(waiting!.fingerprint)
    tags(['three', 'four'])
    const told = await plan()
    expect(told.stdout).toMatch(/- tag\.five .*taken out of the definitions/)
    expect(told.stdout).not.toContain('No changes.')
    expect(told.exit).toBe(4)
  })
})
