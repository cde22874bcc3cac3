/**
 * What a snapshot of the service's heap holds when logins, signatures and exports have ended: no text of a secret that was in a
 * request, in an answer or in the data folder.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { decryptExportBundle, encryptOtpCodeToBundle } from '@turnkey/crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair, signEs256, uncompressP256 } from '../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { listWrittenMessages } from '../../src/service/messages/index.ts'
import { newKey, newUser } from '../service/handlers/steps.ts'
import { codeIn } from '../service/one-time-passcodes/outbox.ts'
import { readClient } from '../service/process.ts'
import { accountsOf } from '../service/signing/keys.ts'

const SERVING = new URL('../service/serving.ts', import.meta.url).pathname

test('heap: no secret of a request that has ended, and no key, stands in a snapshot as text', {
  timeout: 180_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-heap-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const flags = ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`]
  const dataDir = join(folder, 'data')
  const child = spawn(process.execPath, [...flags, SERVING, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const client = readClient(dataDir)
  const submit = async (type: ActivityType, parameters: object) => {
    const made = await client.send(url, client.body(type, parameters))
    return Object.values(made!.result)[0] as Record<string, string>
  }
  const { apiPrivateKey, tlsFetcherPublicKey, ...keys } = JSON.parse(
    readFileSync(join(dataDir, 'bootstrap.json'), 'utf8'),
  )

  const accounts = accountsOf(['CURVE_SECP256K1', 'ADDRESS_FORMAT_ETHEREUM', "m/44'/60'/0'/0/0"])
  const { walletId } = await submit('ACTIVITY_TYPE_CREATE_WALLET', { walletName: 'w', accounts })
  const target = generateP256KeyPair()
  const targetPublicKey = uncompressP256(target.publicKey)!
  const { exportBundle } = await submit('ACTIVITY_TYPE_EXPORT_WALLET', { walletId, targetPublicKey })
  const mnemonic = await decryptExportBundle({
    exportBundle: exportBundle!,
    organizationId: client.organizationId,
    embeddedKey: target.privateKey,
    dangerouslyOverrideSignerPublicKey: keys.signerPublicKey,
    returnMnemonic: true,
  })

  await submit('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' })
  const contact = 'ada@heap.example'
  await submit('ACTIVITY_TYPE_CREATE_USERS_V4', { users: [newUser({ userEmail: contact, apiKeys: [newKey()] })] })
  const asked = { otpType: 'OTP_TYPE_EMAIL', appName: 'Acme', contact }
  const { otpId, otpEncryptionTargetBundle } = await submit('ACTIVITY_TYPE_INIT_OTP_V3', asked)
  const [sent] = await vi.waitFor(
    () => {
      const found = listWrittenMessages(dataDir)
      expect(found).toHaveLength(1)
      return found
    },
    { timeout: 20_000 },
  )
  const code = codeIn(sent!.message)
  const { privateKey, publicKey } = generateP256KeyPair()
  const encryptedOtpBundle = await encryptOtpCodeToBundle(
    code,
    otpEncryptionTargetBundle!,
    publicKey,
    tlsFetcherPublicKey,
  )
  const { verificationToken } = await submit('ACTIVITY_TYPE_VERIFY_OTP_V2', { otpId, encryptedOtpBundle })
  const { id: tokenId } = JSON.parse(Buffer.from(verificationToken!.split('.')[1]!, 'base64url').toString())
  const message = JSON.stringify({ login: { publicKey }, tokenId, type: 'USAGE_TYPE_LOGIN' })
  const signature = encodeHex(signEs256(privateKey, encodeUtf8(message)))
  const scheme = 'CLIENT_SIGNATURE_SCHEME_API_P256'
  const clientSignature = { publicKey, scheme, message, signature }
  const { session } = await submit('ACTIVITY_TYPE_OTP_LOGIN_V2', { verificationToken, publicKey, clientSignature })
  const readOnly = await submit('ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION', {})
  // What was kept of the last request makes room for others.
  for (let at = 0; at < 20; at++)
    await submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag ${at}`, userIds: [] })

  child.kill('SIGUSR2')
  const read = () => {
    const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.heapsnapshot'))
    return readFileSync(join(folder, file), 'utf8')
  }
  const snapshot = await vi.waitFor(
    () => {
      const text = read()
      // The last of it is its list of texts.
      expect(text.trimEnd().endsWith(']}')).toBe(true)
      return text
    },
    { timeout: 100_000, interval: 500 },
  )
  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim()
  const words = mnemonic.split(' ').slice(3, 6).join(' ')
  const secrets = {
    apiPrivateKey,
    masterKey,
    mnemonic,
    words,
    code,
    verificationToken,
    session,
    readOnly: readOnly['session'],
  }
  expect(snapshot).toContain('verificationToken')
  for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(5)
  expect(Object.entries(secrets).flatMap(([name, secret]) => (snapshot.includes(secret) ? [name] : []))).toEqual([])
})
