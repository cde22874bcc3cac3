import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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
  expect(await finding({ QUORATE_SMTP_PASSWORD: 'canary' })).toMatchObject({ state: 'bad' })
})
