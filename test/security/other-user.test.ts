import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { noOtherUser, otherUid, runAsOtherUser } from './other-user.ts'

test.skipIf(noOtherUser)('other user: has another id, no other group, and reads no file of mode 0600', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-owner-'))
  chmodSync(folder, 0o755)
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'mine', { mode: 0o600 })
  try {
    const { stdout, stderr, status } = await runAsOtherUser(
      `import { readFileSync } from 'node:fs'
       console.log(process.getuid(), process.getgid(), process.getgroups().join(), process.env.SAID)
       readFileSync(process.argv[2])`,
      { args: [secret], env: { SAID: 'hello' } },
    )
    expect(stdout).toBe(`${otherUid} ${otherUid} ${otherUid} hello\n`)
    expect(stderr).toContain('EACCES')
    expect(status).toBe(1)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
