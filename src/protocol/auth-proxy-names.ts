/** Unstated: the names of what enabling an authentication proxy makes (docs/protocol/auth-proxy.md#administration). */
export const AUTH_PROXY_NAMES = { user: 'Auth Proxy', key: 'Auth Proxy key', policy: 'Auth Proxy' } as const
