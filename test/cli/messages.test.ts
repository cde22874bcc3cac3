import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { builtMain, compileCache } from '../built.ts'
import { startTestService } from '../service/harness.ts'
import { requestCode } from '../service/one-time-passcodes/outbox.ts'
import { quorate, testFolder } from './harness.ts'

test('messages: what a service has put into its outbox is shown to its owner, and doctor says where messages go', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const { code } = await requestCode(service, { contact: 'ann@example.com' })
  const args = ['messages', '--folder', service.dataDir]
  const shown = await quorate(args)
  expect([shown.exit, shown.stdout.includes(code), shown.stdout.includes('email to ann@example.com')]).toEqual([
    0,
    true,
    true,
  ])
  const { messages } = JSON.parse((await quorate([...args, '--json'])).stdout) as { messages: unknown[] }
  expect(messages[0]).toMatchObject({ message: { kind: 'email', to: 'ann@example.com' } })

  const folder = testFolder()
  const password = join(folder, 'password')
  writeFileSync(password, 'canary\n', { mode: 0o600 })
  const env = {
    QUORATE_DATA_DIR: folder,
    QUORATE_SMTP_URL: 'smtps://acme@mail.example',
    QUORATE_SMTP_PASSWORD_FILE: password,
    QUORATE_MAIL_FROM: 'Acme <codes@acme.example>',
  }
  const finding = async (change: object) => {
    const { stdout } = await quorate(['doctor', '--json'], { env: { ...env, ...change } })
    expect(stdout).not.toContain('canary')
    return (JSON.parse(stdout).findings as { check: string }[]).find(({ check }) => check === 'messages')
  }
  expect(await finding({})).toMatchObject({
    state: 'good',
    found: expect.stringContaining('e-mails go to smtps://mail.example, text messages to the outbox in '),
  })
  // Without a service here, and its own mail, there is no outbox to look into.
  const none = { QUORATE_SMTP_URL: '', QUORATE_SMTP_PASSWORD_FILE: '', QUORATE_MAIL_FROM: '' }
  expect(await finding(none)).toMatchObject({ state: 'not used', found: 'no service has kept anything here' })
  expect(await finding({ QUORATE_SMTP_PASSWORD: 'canary' })).toMatchObject({ state: 'bad' })
})

test('messages --follow: each that comes is shown once, until Ctrl-C', async () => {
  const service = await startTestService()
  onTestFinished(() => service.close())
  const first = await requestCode(service, { contact: 'ann@example.com' })
  const args = [builtMain(), 'messages', '--follow', '--json', '--folder', service.dataDir]
  const env = { PATH: process.env['PATH'], HOME: service.dataDir, ...compileCache() }
  const following = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const lines = createInterface({ input: following.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value as string) as { message: { to: string; text: string } }
  expect((await next()).message.text).toContain(first.code)
  const second = await requestCode(service, { contact: 'bob@example.com' })
  const seen = (await next()).message
  expect([seen.to, seen.text.includes(second.code)]).toEqual(['bob@example.com', true])
  following.kill('SIGINT')
  expect(await lines.next()).toMatchObject({ done: true })
  expect(following.exitCode ?? (await once(following, 'exit'))[0]).toBe(0)
})
