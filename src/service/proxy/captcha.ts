import type { Logger, Secret } from '../../telemetry/index.ts'
import { authProxyRefusals } from '../readings.ts'

/** A captcha service that speaks Turnstile's form, and this proxy's account with it. */
export interface Captcha {
  readonly secret: Secret
  /** @default that of Turnstile */
  readonly url?: string
  /** What browsers show the captcha with. */
  readonly siteKey?: string
}

const TURNSTILE_URL = 'https://challenges.cloudflare.com/turnstile/v0/siteverify'
const TIMEOUT_MS = 5_000
const MAX_TOKEN_LENGTH = 2_048

/**
 * Throws the refusal of a captcha that was not solved. While the captcha service cannot be asked everybody passes: it is there
 * against many sign-ups, not against anybody's login (docs/protocol/auth-proxy.md#captcha).
 */
export async function checkCaptcha(
  captcha: Captcha | undefined,
  { token, source }: { readonly token: string | undefined; readonly source: string },
  logger: Logger,
): Promise<void> {
  if (!token) throw authProxyRefusals.captchaMissing()
  if (!captcha) throw authProxyRefusals.captchaNotSet()
  if (token.length > MAX_TOKEN_LENGTH) throw authProxyRefusals.captchaFailed()
  const answer = await ask(captcha, token, source).catch((error: unknown) => {
    logger.warn('the captcha service was not asked', { reason: error instanceof Error ? error.message : 'unknown' })
    return undefined
  })
  if (answer === false) throw authProxyRefusals.captchaFailed()
}

/** Whether it was solved. Throws for an answer that says nothing about that. */
async function ask({ secret, url = TURNSTILE_URL }: Captcha, token: string, source: string): Promise<boolean> {
  const body = new URLSearchParams({ secret: secret.reveal(), response: token, remoteip: source })
  const answer = await fetch(url, { method: 'POST', body, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  // It refuses a token of somebody else's with status 200; another status is about the service itself.
  if (!answer.ok) throw new Error(`status ${answer.status}`)
  const { success } = Object(await answer.json()) as { success?: unknown }
  if (typeof success !== 'boolean') throw new Error('no `success` in its answer')
  return success
}
