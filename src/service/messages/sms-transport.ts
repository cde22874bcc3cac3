import { encodeBase64, encodeUtf8 } from '../../encoding/index.ts'
import type { Secret } from '../../telemetry/index.ts'
import { createWebhookUrlRules, post, type ResolveHost } from '../network/index.ts'
import type { Sms, Transport } from './message.ts'

/** An HTTP gateway in Twilio's form. */
export interface SmsSettings {
  /** Where messages are posted, such as `https://api.twilio.com/2010-04-01/Accounts/AC…/Messages.json`. */
  readonly url: URL
  readonly user: string
  readonly password: Secret
  /** A number that messages come from, or the id of a messaging service (`MG…`). */
  readonly from: string
  /** Whether the gateway may stand on an address that is not public, and speak plain http. @default false */
  readonly isPrivate?: boolean
}

/** Sends by a gateway: a form with `To`, `From` and `Body`, by the addresses that the URL's host has at that moment. */
export function createSmsTransport(
  { url, user, password, from, isPrivate = false }: SmsSettings,
  { resolveHost }: { readonly resolveHost: ResolveHost },
): Transport<Sms> {
  const { findPlace } = createWebhookUrlRules({ resolveHost, allowedHosts: isPrivate ? [url.host] : [] })
  const sender = /^MG[0-9a-f]{32}$/i.test(from) ? { MessagingServiceSid: from } : { From: from }
  return {
    where: url.origin,
    async send({ organizationId, content }, signal) {
      const place = await findPlace(url.href, organizationId)
      if (place.kind !== 'open') return { kind: 'failed', reason: `the gateway's URL ${place.rule}`, isFinal: false }
      const body = encodeUtf8(new URLSearchParams({ To: content.to, ...sender, Body: content.text }).toString())
      const headers = {
        'Content-Type': 'application/x-www-form-urlencoded',
        Authorization: `Basic ${encodeBase64(encodeUtf8(`${user}:${password.reveal()}`))}`,
      }
      try {
        const { status } = await post(place, { headers, body, signal })
        if (status >= 200 && status < 300) return { kind: 'sent', from, response: String(status) }
        return { kind: 'failed', reason: `the gateway answered ${status}`, isFinal: isAboutMessage(status) }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time'
        return { kind: 'failed', reason: `the gateway could not be reached: ${code}`, isFinal: false }
      }
    },
    close() {},
  }
}

/** What is wrong with the message stays wrong; a secret that the operator corrects, or too many at once, does not. */
function isAboutMessage(status: number): boolean {
  return status >= 400 && status < 500 && ![401, 403, 407, 408, 425, 429].includes(status)
}
