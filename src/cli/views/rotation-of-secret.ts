/** Rotations of OAuth 2.0 client secrets and of the authentication proxy's key for people; programs get the same as JSON. */
import type { Oauth2Rotation, ProxyKey, ProxyRotation } from '../../operations/index.ts'
import { shortCode } from '../../plan/index.ts'
import type { Style } from '../io.ts'
import { view } from '../screen.ts'

const rowsOf = (facts: readonly (readonly [string, string | undefined])[], style: Style) =>
  facts
    .filter(([, text]) => text !== undefined && text !== '')
    .map(([name, text]) => `  ${style.dim(name.padEnd(10))} ${text}\n`)
    .join('')

const OAUTH2_STATES: Readonly<Record<Oauth2Rotation['state'], string>> = {
  checked: 'a login works with the secret in use',
  updated: 'the new secret is in use, and no login was checked with it',
  waiting: 'the update waits for approval; the former secret stays in use until then',
  'put back': 'the provider refused a login with the new secret, and the former secret is in use again',
  refused: 'the provider refused a login with the secret in use',
  failed: 'nothing was changed',
}

/** What became of an OAuth 2.0 credential. */
export const renderOauth2Rotation = view(
  (rotation: Oauth2Rotation & { readonly encryptedClientSecret?: string }, style: Style): string => {
    const { state, why, fingerprint, encryptedClientSecret } = rotation
    const colour = state === 'checked' ? 'good' : state === 'updated' || state === 'waiting' ? 'warning' : 'error'
    const next = {
      waiting: 'when it is approved: `quorate rotate oauth2 … --redirect-uri URI` checks a login',
      updated: '`quorate rotate oauth2 … --redirect-uri URI` checks a login',
      refused: 'give the right secret with `quorate rotate oauth2`',
    }[state as string]
    const facts = [
      ['credential', rotation.oauth2CredentialId],
      ['client', rotation.clientId],
      ['why', why],
      ['vote', fingerprint === undefined ? undefined : `${shortCode(fingerprint)} with \`quorate approve\``],
      ...Object.entries(rotation.activities).map(([part, id]) => [part, `activity ${id}`] as const),
      ['encrypted', encryptedClientSecret && `${encryptedClientSecret} (for the definitions’ variable)`],
      ['next', next],
    ] as const
    return `${style[colour](OAUTH2_STATES[state])}\n${rowsOf(facts, style)}`
  },
)

/** What rotating the proxy's key means, before it is done. */
export const renderProxyOrder = view((old: ProxyKey | undefined, style: Style): string => {
  if (old === undefined) return 'The authentication proxy is disabled: it is enabled with a new key.\n'
  const gap = 'From the disabling until the enabling nobody can sign up or log in through the proxy'
  const how =
    'Where either needs the approval of others, that lasts until they have approved the enabling. Its settings stay; its user and policy are made anew.'
  const key = rowsOf([['old key', old.publicKey]], style)
  return `The authentication proxy is disabled, which deletes its key at once, and enabled, which makes another one.\n${style.warning(gap)}: two requests. ${how}\n${key}`
})

/** What became of the proxy's key. */
export const renderProxyRotation = view((rotation: ProxyRotation, style: Style): string => {
  const { state, part, why, fingerprint, gapMs } = rotation
  const colour = state === 'done' ? 'good' : state === 'waiting' ? 'warning' : 'error'
  const isOff = part === 'enable' && state !== 'done'
  const facts = [
    ['old key', rotation.old && `${rotation.old.publicKey}, no longer registered`],
    ['new key', rotation.new?.publicKey],
    ['gap', gapMs === undefined ? undefined : `${gapMs} ms without logins through the proxy`],
    ['why', why],
    ['vote', fingerprint === undefined ? undefined : `${shortCode(fingerprint)} with \`quorate approve\``],
    ...Object.entries(rotation.activities).map(([name, id]) => [name, `activity ${id}`] as const),
    ['proxy', isOff ? style.error('disabled: nobody can log in through it') : undefined],
    ['next', state === 'done' ? undefined : 'the same command again goes on where this ended'],
  ] as const
  const [first, ...more] = facts
  const shown = part === 'disable' && state !== 'done' ? more : [first, ...more]
  return `${style[colour](state === 'done' ? 'done' : `${state} (${part})`)}\n${rowsOf(shown, style)}`
})
