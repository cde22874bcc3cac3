/**
 * Proxy: the authentication proxy (docs/protocol/auth-proxy.md), a front for browsers. It is a client of the API: it reads an
 * organization's settings and its own key, and whatever it does is an activity or a query that it stamps.
 */

export type { Captcha } from './captcha.ts'
export { type AuthProxyProcessOptions, createAuthProxy } from './separate-process.ts'
export { createAuthProxyServer } from './server.ts'
