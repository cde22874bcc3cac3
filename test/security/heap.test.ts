/**
 * What snapshots of the heaps of the service and of an authentication proxy of its own process hold when logins, signatures and
 * exports have ended, and what is on their disk, in a snapshot of that and in their logs: no text of a secret that was in a
 * request, in an answer or in the data folder.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { decryptExportBundle, encryptOauth2ClientSecret, encryptOtpCodeToBundle } from '@turnkey/crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { generateP256KeyPair, signEs256, uncompressP256 } from '../../src/crypto/index.ts'
import { encodeHex, encodeUtf8 } from '../../src/encoding/index.ts'
import type { ActivityType } from '../../src/protocol/index.ts'
import { saveSnapshot } from '../../src/service/index.ts'
import { listWrittenMessages } from '../../src/service/messages/index.ts'
import { newKey, newUser } from '../service/handlers/steps.ts'
import { ACCESS_TOKEN, GRANT, startSocialProviders } from '../service/oauth/social.ts'
import { nonceOf } from '../service/oauth/stage.ts'
import { codeIn } from '../service/one-time-passcodes/outbox.ts'
import { readClient } from '../service/process.ts'
import { openProxyKey } from '../service/proxy-key.ts'
import { accountsOf } from '../service/signing/keys.ts'

const SERVING = new URL('../service/serving.ts', import.meta.url).pathname
const COMMAND = new URL('../../src/cli/main.ts', import.meta.url).pathname

test('heap: no secret of a request that has ended, and no key, stands in a snapshot, on disk or in a log as text', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-heap-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const social = await startSocialProviders()
  onTestFinished(() => social.close())
  const dataDir = join(folder, 'data')
  const logged: string[] = []
  /** A process whose heap is written where it is asked to; the first line that it prints. */
  const begin = async (name: string, args: readonly string[]) => {
    const diagnostics = join(folder, name)
    mkdirSync(diagnostics)
    const flags = ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${diagnostics}`]
    const child = spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stderr.setEncoding('utf8').on('data', (part: string) => logged.push(part))
    const exited = once(child, 'exit').then(() => {
      throw new Error(`${name} did not start: ${logged.join('')}`)
    })
    const printed = once(createInterface({ input: child.stdout }), 'line')
    const [line] = (await Promise.race([printed, exited])) as [string]
    exited.catch(() => {})
    const snapshot = async () => {
      child.kill('SIGUSR2')
      const look = () => {
        const [file = ''] = readdirSync(diagnostics).filter((one) => one.endsWith('.heapsnapshot'))
        const text = readFileSync(join(diagnostics, file), 'utf8')
        // The last of it is its list of texts.
        expect(text.trimEnd().endsWith(']}')).toBe(true)
        return text
      }
      return vi.waitFor(look, { timeout: 100_000, interval: 500 })
    }
    return { told: JSON.parse(line) as Record<string, string>, snapshot }
  }
  const settings = JSON.stringify({ providerUrls: { x: social.url }, proxy: {} })
  const service = await begin('service', [SERVING, dataDir, settings])
  const { url = '' } = service.told
  const client = readClient(dataDir)
  const submit = async (type: ActivityType, parameters: object) => {
    const made = await client.send(url, client.body(type, parameters))
    return Object.values(made!.result)[0] as Record<string, string>
  }
  const { apiPrivateKey, tlsFetcherPublicKey, tlsFetcherEncryptionPublicKey, authProxyConfigId, ...keys } = JSON.parse(
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
  const seen = new Set<string>()
  const sentCode = async () => {
    const [sent] = await vi.waitFor(() => {
      const found = listWrittenMessages(dataDir, seen)
      expect(found).toHaveLength(1)
      return found
    })
    seen.add(sent!.id)
    return codeIn(sent!.message)
  }
  const code = await sentCode()
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

  const { oauth2CredentialId } = await submit('ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL', {
    provider: 'OAUTH2_PROVIDER_X',
    clientId: GRANT.clientId,
    encryptedClientSecret: await encryptOauth2ClientSecret(GRANT.clientSecret, tlsFetcherEncryptionPublicKey),
  })
  const authCode = social.code({})
  const { codeVerifier, redirectUri } = GRANT
  const grant = { oauth2CredentialId, authCode, codeVerifier, redirectUri, nonce: nonceOf(publicKey) }
  const { oidcToken } = await submit('ACTIVITY_TYPE_OAUTH2_AUTHENTICATE', grant)

  await submit('ACTIVITY_TYPE_ENABLE_AUTH_PROXY', {})
  const proxy = await begin('proxy', [COMMAND, 'proxy', '--folder', dataDir, '--base-url', url, '--json'])
  const answers: string[] = []
  const post = async (endpoint: string, body: object) => {
    const headers = { 'x-auth-proxy-config-id': authProxyConfigId as string }
    const at = `${proxy.told['authProxyUrl']}/v1/${endpoint}`
    const answer = await fetch(at, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (answer.status !== 200) answers.push(text)
    return JSON.parse(text) as Record<string, string>
  }
  const asking = await post('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: 'eve@heap.example' })
  const plainCode = await sentCode()
  // In the older form the code itself goes through the proxy; a second use is an error.
  const verify = { otpId: asking['otpId'], otpCode: plainCode, publicKey }
  const proved = await post('otp_verify', verify)
  await post('otp_verify', verify)
  await post('otp_login', { verificationToken: proved['verificationToken'], publicKey })
  await post('oauth_login', { oidcToken, publicKey })
  expect(answers).toHaveLength(3)
  // What was kept of the last request makes room for others.
  for (let at = 0; at < 20; at++) {
    await submit('ACTIVITY_TYPE_CREATE_USER_TAG', { userTagName: `tag ${at}`, userIds: [] })
    await post('account', { filterType: 'EMAIL', filterValue: `${at}@heap.example` })
  }

  const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim()
  const secrets: Readonly<Record<string, string>> = {
    apiPrivateKey,
    proxyKey: await openProxyKey({ dataDir, organizationId: client.organizationId }),
    masterKey,
    mnemonic,
    words: mnemonic.split(' ').slice(3, 6).join(' '),
    code,
    verificationToken: verificationToken!,
    session: session!,
    readOnly: readOnly['session']!,
    clientSecret: GRANT.clientSecret,
    authCode,
    codeVerifier,
    accessToken: ACCESS_TOKEN,
    oidcToken: oidcToken!,
    plainCode,
    proved: proved['verificationToken']!,
  }
  for (const secret of Object.values(secrets)) expect(secret.length).toBeGreaterThan(5)
  const found = (text: string) => Object.keys(secrets).filter((name) => text.includes(secrets[name]!))
  const [ofService, ofProxy] = await Promise.all([service.snapshot(), proxy.snapshot()])
  for (const text of [ofService, ofProxy]) expect(text).toContain('verificationToken')
  expect({ service: found(ofService), proxy: found(ofProxy) }).toEqual({ service: [], proxy: [] })
  expect({ log: found(logged.join('')), errors: found(answers.join('')) }).toEqual({ log: [], errors: [] })
  // Keys stand where their owner keeps them, codes in the messages to their owners, and nothing of either elsewhere.
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^(?:bootstrap\.json|master\.key)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/messages/'))
  const kept = files.map((path) => readFileSync(path, 'latin1')).join('\n')
  expect(kept).toContain(GRANT.clientId)
  // The token of a login stands in its activity: it names the key that logs in, and is worth nothing without it.
  expect(found(kept)).toEqual(['session'])
  // What a snapshot has beyond that are the keys of which it is said to be a copy.
  const file = join(folder, 'all.snapshot')
  await saveSnapshot(dataDir, file)
  const copied = readFileSync(file, 'latin1')
  expect(copied).toContain(GRANT.clientId)
  expect(found(copied)).toEqual(['apiPrivateKey', 'masterKey', 'session'])
})
