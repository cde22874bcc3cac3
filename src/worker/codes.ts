import type { Codes } from '../diagnostics/index.ts'

export const workerCodes = {
  'worker/temporal-unreachable': {
    summary: 'no Temporal server answers at the configured address',
    solve: 'start the server or correct TEMPORAL_ADDRESS; without it an embedded server is started',
  },
  'worker/temporal-settings': {
    summary: 'the profile, the file of profiles or the certificates that are named for Temporal cannot be used',
    solve: 'correct TEMPORAL_PROFILE, TEMPORAL_CONFIG_FILE or the TEMPORAL_TLS_… variable that the message speaks of',
  },
  'worker/temporal-in-clear': {
    summary:
      'an API key, or an `authorization` in the metadata, would be sent to Temporal on another machine without TLS',
    solve:
      'set TEMPORAL_TLS=true, or take `disabled = true` out of the profile; if the server has no TLS, leave the key out',
  },
  'worker/temporal-missing': {
    summary: 'no Temporal server is configured and none could be found or built',
    solve: 'put `temporal-server` 1.29 or Go on the PATH, or set TEMPORAL_ADDRESS to a running server',
  },
  'worker/temporal-failed': {
    summary: 'the embedded Temporal server did not come up',
    solve: 'read the log that the message names; its state file may be in use by another process',
  },
  'worker/payload-refused': {
    summary: 'what Temporal handed out was not sealed with a key of this data folder',
    solve:
      'give client and workers the same payload key (docs/trust.md); if it is the same, a stranger answers at Temporal: find out who can reach it',
  },
  'worker/payload-key-unusable': {
    summary: 'the key that payloads are sealed with is not one',
    solve: 'give 64 hex digits, one key a line, the newest first',
  },
  'worker/codec-token-unusable': {
    summary: 'the token of the codec server is not one',
    solve: 'give a file with 32 to 256 letters and digits, such as `openssl rand -hex 32` prints',
  },
  'worker/version-refused': {
    summary: 'Temporal did not make the version of this worker the current one',
    solve:
      'see what Temporal says: workers of the version must poll every task queue of the one before; a server from before 1.28 has no worker deployments, so leave --build-id out there',
  },
} as const satisfies Codes
