/** Power taken out of Git is taken away: the command line as a process, against a real service and a real Temporal server. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { generateP256KeyPair } from '../../src/crypto/index.ts'
import { countActivities, quorate, writeFiles } from '../cli/harness.ts'
import { onlyTags, scene } from '../cli/scene.ts'

vi.setConfig({ testTimeout: 240_000 })

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
    expect(asked.stderr).toContain('`delete: true`')
    expect(asked.stderr).toContain('`forget:`')
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
})
