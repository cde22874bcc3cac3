/**
 * A proposer chooses names, notes and conditions; an approver reads them. Each text from outside in each view holds whatever a
 * proposer could have written, goes through the writer of the CLI into the emulator of a terminal, and must stay in its place.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forecast } from '../../src/analysis/index.ts'
import { createStyle } from '../../src/cli/io.ts'
import { line, toTerminal } from '../../src/cli/screen.ts'
import { renderActivity, renderActivityLine, renderApprovals } from '../../src/cli/views/activity.ts'
import { renderAway, renderBack } from '../../src/cli/views/away.ts'
import { renderBacktest, renderUsage } from '../../src/cli/views/backtest.ts'
import { renderCompared } from '../../src/cli/views/compared.ts'
import { renderVerified } from '../../src/cli/views/evidence.ts'
import { renderExplanation, renderExplanationMarkdown } from '../../src/cli/views/explanation.ts'
import {
  renderContainment,
  renderCut,
  renderIncident,
  renderRevert,
  renderTimeline,
} from '../../src/cli/views/incident.ts'
import { renderLanes } from '../../src/cli/views/lanes.ts'
import { renderInForce } from '../../src/cli/views/operator.ts'
import { renderCoverage, renderTests } from '../../src/cli/views/policy-test.ts'
import {
  createProgressView,
  renderAdvice,
  renderNews,
  renderRest,
  renderResult,
  renderStanding,
  renderWaiting,
} from '../../src/cli/views/progress.ts'
import { renderRotation, renderRotationOrder } from '../../src/cli/views/rotation.ts'
import { renderOrders, renderRotationsReport } from '../../src/cli/views/rotation-of-many.ts'
import { renderOauth2Rotation, renderProxyOrder, renderProxyRotation } from '../../src/cli/views/rotation-of-secret.ts'
import {
  renderListedSend,
  renderNext,
  renderNextOfMany,
  renderOrder,
  renderSend,
  renderSenders,
} from '../../src/cli/views/send.ts'
import { renderApprovalRows, renderRowVotes } from '../../src/cli/views/send-approval.ts'
import { renderSendBatch, renderSendBatchEnd, renderStopped } from '../../src/cli/views/send-batch.ts'
import { renderUnmanaged } from '../../src/cli/views/unmanaged.ts'
import { renderWatch } from '../../src/cli/views/watch.ts'
import { renderDeliveries, renderEvent } from '../../src/cli/views/webhooks.ts'
import { renderWhoCan, type WhoCanView } from '../../src/cli/views/who-can.ts'
import { renderWhoCanDiff } from '../../src/cli/views/who-can-diff.ts'
import { renderWhoCanCsv, renderWhoCanMarkdown } from '../../src/cli/views/who-can-table.ts'
import {
  createSource,
  diagnostic,
  printable,
  printableJson,
  QuorateError,
  renderDiagnostics,
  renderError,
} from '../../src/diagnostics/index.ts'
import { makePlan, renderPlanMarkdown, renderPlanText, sealed, writePlan } from '../../src/plan/index.ts'
import { toReportCsv } from '../../src/sending/batch-report.ts'
import { bootstrap, declare, idFor, key, live, policy, ref } from '../plan/organization.ts'
import { planInput } from '../plan/planning.ts'
import { runs } from '../runs.ts'
import { emulate } from './emulator.ts'

const style = createStyle(true)
const NOW = Date.parse('2026-01-02T03:04:05.000Z')

/** Pieces from which hostile texts are put together. */
const PIECES = [
  ...[
    '\u001b[2J',
    '\u001b[31m',
    '\u001b[1A\u001b[2K',
    '\u001b]0;owned\u0007',
    '\u001b[6n',
    '\u001b[?1049h',
    '\u001b[?25l',
    '\u001bc',
  ],
  ...[
    '\u009b31m',
    '\u009b2J',
    '\u009d0;owned\u009c',
    '\u0090',
    '\u0085',
    '\u0000',
    '\u0007',
    '\b\b\b',
    '\r',
    '\n',
    '\n\n',
    '\t',
    '\u000b',
    '\u007f',
  ],
  ...[
    '\u061c',
    '\u200e',
    '\u202e',
    '\u202c',
    '\u2066',
    '\u2069',
    '\u200b',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\ufe0f',
    '\u{e0041}',
  ],
  ...['\ufff9', '\ud800', '\udc00', '\u2028', '\u2029', '\u3164', '\u2800', '\u0301', '\ue000', '\u{10ffff}'],
  ...[
    '\n::stop-commands::x',
    '::add-mask::x',
    '##[error]x',
    '\neffect: EFFECT_DENY',
    '\nApproved',
    '${env.X}',
    '\\u{1b}',
    'a',
    'é',
    'B ',
    'alice',
  ],
]
const hostile = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 })
  .map((pieces) => `x${pieces.join('')}x`)

interface View {
  readonly name: string
  /** What the view is given, as data; every text in it is made hostile in its turn. */
  readonly given: unknown
  readonly render: (given: never) => string
  /** Members that are not from outside, or that the reader of the wire has checked: words of ours, numbers, times. */
  readonly not?: readonly string[]
  /** The view lays texts out in lines, so their number may differ. */
  readonly laysOut?: true
}

const NEVER = [
  'state',
  'kind',
  'action',
  'outcome',
  'status',
  'since',
  'requestedAt',
  'approvalsLapseAt',
  'atomic',
  'orderedAt',
  'createdAt',
  'stoppedAt',
]

const delivery = {
  ...{ eventId: 'event', eventType: 'ACTIVITY_UPDATES', organizationId: 'org', endpointId: 'endpoint' },
  ...{ host: 'hooks.acme.test:443', attempts: 3, reason: 'it answered 500', at: NOW },
}

const activity = {
  id: 'idid',
  code: 'ABCD',
  type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
  status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
  fingerprint: 'sha256:ff',
  requestedBy: 'alice',
  requestedAt: new Date(NOW - 60_000).toISOString(),
  approvedBy: ['alice', 'bob'],
  lapsedApprovals: ['dave'],
  rejectedBy: ['carol'],
  approvalsLapseAt: new Date(NOW + 60_000).toISOString(),
  parameters: {
    policyName: 'ops',
    effect: 'EFFECT_ALLOW',
    condition: 'true',
    notes: 'retire',
    deep: [{ name: 'one' }],
  },
  failure: 'it failed',
  failureDetails: [{ message: 'a policy denied it' }],
  reference: 'INV-42',
  sends: [
    {
      receiver: { address: '0xab', name: 'payroll' },
      amount: { text: '1 ETH', atomic: '1', atomicUnit: 'wei' },
      call: { kind: 'decoded', function: 'transfer', arguments: { to: 'someone', memo: 'a b' } },
      fee: {},
    },
  ],
  undecoded: 'a transaction of BITCOIN is not decoded',
  solana: {
    pays: [
      {
        receiver: { address: 'receiver', name: 'crew' },
        amount: { text: '1 usdc', atomic: '1', atomicUnit: 'atomic units' },
        token: { address: 'mint', name: 'usdc' },
        account: 'account',
      },
    ],

    calls: [{ program: 'program', function: 'swap', arguments: { memo: 'words' } }],
    programs: ['one', 'two'],
    unknown: 1,
    fee: { signatureLamports: '5000' },
  },
}
const reviewed = {
  ...activity,
  review: {
    isWhole: false,
    missing: ['gone'],
    changes: [
      {
        address: 'policy.ops',
        kind: 'policy',
        action: 'update',
        cause: 'differs',
        fields: [{ field: 'notes', before: 'then', after: 'now' }],
      },
    ],
    power: {
      actor: { userId: 'u', userName: 'alice', publicKey: '02' },
      access: [
        { power: 'export', wallet: 'wallet.hot', before: { ways: [] }, after: { ways: [{ sets: [['mallory']] }] } },
      ],
    },
    standing: { needed: { outcome: 'waits', needed: [['bob', 'carol']] }, mine: 'counts' },
    explained: {
      kind: 'mismatch',
      plan: { digest: 'abcdef', createdAt: 'then', commit: 'fedcba' },
      batch: 0,
      deviations: [{ parameter: 'policyName', planned: 'one', asked: 'other' }],
    },
  },
}
const rotated = { kind: 'rotation', rotationId: 'r', user: 'bob', key: 'laptop', part: 'delete', orderedAt: 'then' }
const exposure = {
  organization: { id: 'org', name: 'acme' },
  user: { id: 'u', name: 'ci-bot' },
  key: { id: 'k', name: 'deploy', publicKey: '02ab', createdAt: 'then' },
  others: [{ kind: 'apiKey', id: 'o', name: 'spare', createdAt: 'then' }],
}
const protective = { what: 'delete API key deploy', outcome: 'refused', activityId: 'idid', why: 'a policy said no' }
const waitsForOthers = {
  what: 'deny what ci-bot approves',
  outcome: 'waits',
  activityId: 'idid',
  fingerprint: 'sha256:abcdef',
  needed: { outcome: 'waits', needed: [['bob', 'carol']] },
}
const incident = {
  publicKey: '02ab',
  at: 'noon',
  since: 'dawn',
  organizations: [
    {
      organization: exposure.organization,
      exposure,
      cuts: [protective, waitsForOthers],
      proof: 'registered',
      acts: [{ id: 'idid', type: 'T', status: 'S', at: 'then', requestedBy: 'bob', part: 'requested' }],
      beyond: [{ id: 'sent', type: 'SIGN', status: 'DONE', at: 'then', part: 'requested' }],
      keysMade: [{ publicKey: '02aa', activities: 2 }],
      left: [{ address: 'policy.backdoor', did: 'made', activityId: 'idid', at: 'then' }],
      reach: [
        {
          power: 'sign',
          over: ['wallet.hot'],
          condition: 'eth.tx.value < 1',
          alone: false,
          ways: [{ sets: [['bob']] }],
        },
      ],
    },
  ],
}
const failure = { code: 'client/activity-failed', message: 'the API said no', next: 'try again' }
const progress = {
  planDigest: 'd',
  state: 'waiting',
  startedAt: new Date(NOW).toISOString(),
  batches: [
    {
      index: 0,
      type: 'T',
      summary: 'create policy ops',
      state: 'waiting',
      activityId: 'idid',
      fingerprint: 'sha256:abcdef',
      since: new Date(NOW - 60_000).toISOString(),
      votes: { approved: ['alice', 'bob'] },
    },
    { index: 1, type: 'T', summary: 'create user bob', state: 'failed', error: failure },
  ],
  error: failure,
}
const send = {
  sendId: 's',
  reference: 'INV-1',
  state: 'failed',
  transactionHash: '0xhash',
  approved: ['alice'],
  error: failure,
}
const explanation = {
  outcome: 'OUTCOME_REQUIRES_CONSENSUS',
  basis: 'policy',
  decidedBy: ['ops', 'treasury'],
  needs: { sets: [['alice', 'bob'], ['carol']] },
  policies: [
    {
      name: 'ops',
      effect: 'EFFECT_ALLOW',
      outcome: 'OUTCOME_ERROR',
      error: { kind: 'missing', message: 'no such thing' },
      fields: [
        {
          field: 'condition',
          clause: {
            text: 'a == b',
            value: { text: 'true' },
            operands: [{ text: 'a', value: { text: "'words'" } }],
            clauses: [],
            element: { name: 'user', value: { text: "'alice'" } },
          },
        },
      ],
    },
  ],
}
const input = planInput({
  desired: [
    declare('rootQuorum', { threshold: 2, users: [ref('user.alice'), ref('user.bob')] }),
    declare('user.alice'),
    declare('apiKey.alice.laptop', key('alice laptop')),
    declare('user.bob', { email: 'bob@acme.test' }),
    declare('apiKey.bob.k', key('bob')),
    declare('policy.ops', policy(null, "activity.resource == 'WALLET'")),
  ],
  manageAll: ['tag'],
  actual: [...bootstrap(), live('tag.old'), live('wallet.stray'), live('policy.ops', policy(null, 'false'))],
  creators: { [idFor('policy.ops')]: { userId: idFor('user.mallory'), userName: 'mallory' } },
  allow: ['adoption'],
})
const plan = sealed(forecast(makePlan(input).plan, input))
const report = {
  batchId: 'abcdef',
  organizationId: 'o',
  file: 'pay.csv',
  orderedAt: '',
  stoppedAt: '2026',
  counts: { failed: 1, stopped: 1 },
  rows: [
    {
      row: 2,
      reference: 'A-1',
      from: 'treasury',
      to: 'bob',
      amount: '1',
      state: 'failed',
      transactionHash: '0x',
      reason: 'no',
    },
    { row: 3, reference: 'A-2', from: 'treasury', to: 'bob', amount: '1', state: 'stopped' },
  ],
}

const whoCanReport: WhoCanView = {
  organization: { id: 'idid', name: 'acme' },
  at: 'noon',
  stateDigest: 'digest',
  unread: ['wallet'],
  user: 'alice',
  rows: [
    {
      power: 'sign',
      activities: ['T'],
      over: ['wallet.hot'],
      lines: [{ condition: 'x', unless: ['y'], deniedBy: ['n'], policies: ['p'], ways: [{ sets: [['alice']] }] }],
    },
  ],
  indirect: {
    rows: [
      {
        power: 'send',
        activities: ['T'],
        over: ['wallet.hot'],
        paths: [
          {
            people: ['bob'],
            isConditional: true,
            steps: [
              { activity: 'U', people: ['carol'], policies: ['q'], condition: 'z', unless: ['w'], gains: 'tags' },
            ],
          },
        ],
      },
    ],
    roots: [{ people: ['dave'], isConditional: false, steps: [] }],
    limits: ['many'],
  },
  why: [
    {
      address: 'policy.p',
      fields: { effect: 'allow', consensus: 'true', users: ['alice'] },
      createdBy: 'erin',
      author: {
        ...{ activityId: 'idid', type: 'T', userName: 'frank', publicKey: '02', credential: 'k', at: 'noon' },
        approvedBy: [{ userName: 'grace', publicKey: '03', at: 'noon' }],
      },
    },
  ],
}
const recorded = { activityId: 'idid', type: 'T', at: 'noon', by: ['alice'], recorded: 'executed' } as const
const decided = (outcome: 'executed' | 'denied' | 'waits' | 'unknown') => ({
  outcome,
  reason: 'no',
  policies: [],
  needed: { sets: [['bob']] },
})
/** What a node of the user's own says of a send, and the names in it. */
const simulation = {
  chain: 'eip155:1',
  by: 'the node at 127.0.0.1:8545',
  block: '7',
  balances: [
    {
      of: 'sender',
      name: 'treasury',
      address: '0xf0',
      before: { text: '3 ETH' },
      after: { text: '2 ETH' },
      feeAtMost: { text: '0.5 ETH' },
      short: { needs: { text: '9 ETH' }, saidBy: ['the node'], deniedBy: ['the API'] },
    },
  ],
  warnings: ['INV: it would revert: no'],
}

const VIEWS: readonly View[] = [
  { name: 'approve: an activity', given: activity, render: (one) => renderActivity(one, style, NOW), laysOut: true },
  {
    name: 'review: an activity',
    given: reviewed,
    render: (one) => renderActivity(one, style, NOW),
    laysOut: true,
  },
  { name: 'approvals: one of a list', given: reviewed, render: (one) => renderApprovals([one], style, NOW) },
  {
    name: 'approvals: one that a rotation asked for',
    given: { ...reviewed, review: { ...reviewed.review, explained: rotated } },
    render: (one) => renderApprovals([one], style, NOW),
  },
  { name: 'activities: one of a list', given: activity, render: (one) => renderActivityLine(one, style, NOW) },
  { name: 'apply: its end', given: progress, render: (one) => renderResult(one, style, NOW) },
  {
    name: 'apply: how it stands',
    given: {
      progress,
      plan: { digest: progress.planDigest, batches: [{ forecast: { outcome: 'waits', needed: [['alice']] } }] },
    },
    render: ({ progress: of, plan: by }: { progress: never; plan: never }) => renderStanding(of, by, style, NOW),
  },
  { name: 'apply: what to do about its end', given: progress, render: (one) => renderAdvice(one) },
  { name: 'apply: what is new', given: progress, render: (one) => renderNews(one, undefined, style, NOW) },
  {
    name: 'apply: at rest',
    given: {
      progress,
      plan: { digest: progress.planDigest, batches: [{ forecast: { outcome: 'waits', needed: [['alice']] } }] },
    },
    render: ({ progress: of, plan: by }: { progress: never; plan: never }) =>
      renderRest(of, by, { style, now: NOW, carrier: 'background' }),
  },
  {
    name: 'apply: who is waited for',
    given: {
      progress,
      plan: { digest: progress.planDigest, batches: [{ forecast: { outcome: 'waits', needed: [['alice']] } }] },
    },
    render: ({ progress: of, plan: by }: { progress: never; plan: never }) =>
      renderWaiting(of, by, { style, now: NOW, carrier: 'worker' }),
  },
  { name: 'send: how it stands', given: send, render: (one) => renderSend(one, style, NOW) },
  {
    name: 'sends: what is away',
    given: [{ found: 'the API does not answer', next: 'look at its log' }],
    render: (away) => renderAway(away, style),
  },
  {
    name: 'sends: what is there again',
    given: [{ part: 'node', node: 'the node at 127.0.0.1 of ethereum' }],
    render: (back) => renderBack(back, style),
    not: ['part'],
  },
  { name: 'send: what next', given: send, render: (one) => renderNext(one, style) },
  {
    name: 'sends: what next',
    given: [{ name: 'INV-1', next: 'send it' }],
    render: (all) => renderNextOfMany(all, style),
  },
  {
    name: 'incident key: what is about to be cut off',
    given: { publicKey: '02ab', exposures: [exposure] },
    render: (one) => renderContainment(one, style),
    not: ['id', 'createdAt', 'publicKey'],
  },
  {
    name: 'incident user: what is about to be cut off',
    given: { user: exposure.user, exposures: [{ ...exposure, key: undefined }] },
    render: (one) => renderContainment(one, style),
    not: ['createdAt', 'publicKey', 'organization.id'],
  },
  { name: 'incident key: one step', given: protective, render: (one) => renderCut(one, style), not: ['activityId'] },
  {
    name: 'incident key: what is known',
    given: incident,
    render: (one) => renderIncident(one, style),
    not: ['proof', 'part', 'did', 'activityId', 'why', 'requestedBy'],
  },
  {
    name: 'incident key: the timeline',
    given: incident,
    render: renderTimeline,
    not: ['proof', 'part', 'did', 'power', 'over', 'condition', 'sets', 'others'],
  },
  {
    name: 'incident key: the plan back',
    given: {
      plan: 'revert.json',
      deletes: ['policy.backdoor'],
      restores: ['policy.ops'],
      guards: [{ message: 'the root quorum falls', bypass: '--allow quorum-lowered' }],
      leaves: [{ what: 'wallet.hot', why: 'it was deleted' }],
    },
    render: renderRevert,
  },
  {
    name: 'rotate key: what is about to be done',
    given: {
      user: { name: 'ci-bot' },
      key: { name: 'deploy', publicKey: '02ab' },
      drop: { name: 'spare', publicKey: '02cd' },
      overlapMs: 0,
      sink: { kind: 'file', path: '/home/ci/ci.key' },
    },
    render: (one) => renderRotationOrder(one, style),
    not: ['kind'],
  },
  {
    name: 'rotate key: how it stands',
    given: {
      state: 'deleting',
      user: 'ci-bot',
      key: 'deploy',
      old: { id: 'a', publicKey: '02ab' },
      new: { id: 'b', publicKey: '02cd' },
      waiting: { fingerprint: 'sha256:0123456789abcdef', since: '2026-01-01T00:00:00.000Z', approved: ['alice'] },
      activities: { create: 'c' },
      error: { message: 'no', next: 'wait' },
    },
    render: (one) => renderRotation(one, style, NOW),
    not: ['state', 'since'],
  },
  {
    name: 'rotate key --all: what is due, and what is left',
    given: {
      orders: [{ user: { name: 'ci-bot' }, key: { name: 'deploy' }, sink: { kind: 'file', path: '/home/ci/ci.key' } }],
      left: [{ user: { name: 'ann' }, key: { name: 'laptop' }, why: 'expires' }],
    },
    render: (one) => renderOrders(one, style),
    not: ['kind', 'why'],
  },
  {
    name: 'rotate key --all: the report',
    given: {
      rotations: [
        {
          state: 'overlap',
          user: 'ci-bot',
          key: 'deploy',
          old: { id: 'a' },
          new: { id: 'b' },
          activities: { create: 'c' },
          startedAt: 'then',
          handedAt: 'then',
          deletesAt: 'later',
          error: { message: 'no' },
        },
      ],
      left: [],
      notBegun: [{ user: 'ci-bot', key: 'other', why: 'one at a time' }],
    },
    render: (one) => renderRotationsReport(one, style, 0),
    not: ['state', 'why'],
  },
  {
    name: 'rotate oauth2: what became of it',
    given: {
      oauth2CredentialId: 'c',
      provider: 'OAUTH2_PROVIDER_X',
      clientId: 'client',
      state: 'waiting',
      activities: { update: 'a' },
      fingerprint: 'sha256:0123456789abcdef',
      why: 'no',
      encryptedClientSecret: 'ab',
    },
    render: (one) => renderOauth2Rotation(one, style),
    not: ['state', 'provider'],
  },
  {
    name: 'rotate auth-proxy: what is about to be done',
    given: { userId: 'u', publicKey: '02ab' },
    render: (one) => renderProxyOrder(one, style),
    not: ['userId'],
  },
  {
    name: 'rotate auth-proxy: what became of it',
    given: {
      state: 'failed',
      part: 'enable',
      old: { userId: 'u', publicKey: '02ab' },
      new: { userId: 'v', publicKey: '02cd' },
      activities: { disable: 'a' },
      fingerprint: 'sha256:0123456789abcdef',
      why: 'no',
    },
    render: (one) => renderProxyRotation(one, style),
    not: ['state', 'part', 'userId'],
  },
  {
    name: 'sends: one of a list',
    given: {
      order: { reference: 'INV', amount: '1', from: 'treasury', to: 'bob' },
      progress: send,
      replacedBy: { reference: 'INV/replace-60gwei', cancels: false },
    },
    render: (one) => renderListedSend(one, style, NOW),
  },
  {
    name: 'send: what is about to be sent',
    given: {
      order: {
        reference: 'INV',
        replaces: 'OLD',
        from: 'treasury',
        parameters: { nonce: '1', from: '0xf0', caip2: 'eip155:1' },
        type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION',
      },
      description: {
        receiver: { name: 'bob', address: '0xb0' },
        amount: activity.sends[0]!.amount,
        token: { name: 'usdc', address: '0xc0' },
        fee: {},
        call: activity.sends[0]!.call,
      },
      explanation,
      simulation,
    },
    render: ({ order, ...meaning }: { order: never; description: never; explanation: never }) =>
      renderOrder(order, meaning, style),
    not: ['type', 'caip2'],
  },
  {
    name: 'send --batch: what is about to be sent',
    given: {
      batchId: 'abcdef',
      file: 'pay.csv',
      rows: [
        {
          row: { line: 2 },
          order: { reference: 'A-1', from: 'treasury', parameters: { caip2: 'eip155:1' } },
          description: {
            receiver: { name: 'bob', address: '0xb0' },
            amount: activity.sends[0]!.amount,
            call: activity.sends[0]!.call,
            lookAlikes: ['receiver bob looks like receiver b0b: one differs'],
          },
          explanation,
          state: 'not begun',
          stands: { state: 'not begun' },
        },
        {
          row: { line: 3 },
          order: { reference: 'A-2', from: 'treasury', parameters: { caip2: 'eip155:1' } },
          description: { receiver: { name: 'bob', address: '0xb0' }, amount: activity.sends[0]!.amount },
          explanation,
          state: 'failed',
          stands: {
            state: 'failed',
            progress: { state: 'failed', error: { code: 'apply/transaction-replaced', message: 'replaced' } },
            replacedBy: { reference: 'A-2/replace-9gwei', cancels: false },
          },
        },
      ],
      totals: [
        {
          from: 'treasury',
          chain: 'eip155:1',
          rows: 1,
          amount: { text: '1 ETH', atomic: '1' },
          funds: { text: '2 ETH', atomic: '2' },
        },
      ],
      alike: [],
      deniedTotals: [{ from: 'ops', chain: 'eip155:1', rows: 1, amount: { text: '3 ETH', atomic: '3' } }],
      simulations: [simulation, { ...simulation, unknown: 'it does not run them' }],
    },
    render: (batch) => renderSendBatch(batch, { style, rows: true, skipsDenied: false }),
    not: ['caip2', 'chain', 'basis', 'effect'],
  },
  {
    name: 'approve --batch: what is about to be approved',
    given: {
      file: 'pay.csv',
      rows: [
        {
          row: { line: 2 },
          order: { reference: 'A-1', from: 'treasury', parameters: { caip2: 'eip155:1' } },
          description: { receiver: { name: 'bob', address: '0xb0' }, amount: activity.sends[0]!.amount, fee: {} },
          kind: 'refused',
          why: 'value is 2, and the row says 1',
          activity: { fingerprint: 'sha256:ab', intent: {} },
        },
      ],
      totals: [
        { from: 'treasury', address: '0xf0', chain: 'eip155:1', rows: 1, amount: { text: '1 ETH', atomic: '1' } },
      ],
      alike: ['receiver bob looks like receiver b0b: one differs'],
    },
    render: (given) => renderApprovalRows(given, style),
    not: ['caip2', 'chain', 'kind', 'fingerprint', 'address'],
  },
  {
    name: 'approve --batch: what came of it',
    given: [
      {
        row: { row: { line: 2 }, order: { reference: 'A-1' } },
        outcome: 'not approved',
        status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        error: 'the API said no',
      },
    ],
    render: (given) => renderRowVotes(given, style),
  },
  {
    name: 'policy compare',
    given: {
      before: 'a',
      after: 'b',
      relation: 'wider',
      powers: [
        {
          power: 'sign',
          relation: 'unknown',
          wider: {
            people: ['alice'],
            before: 'deny',
            after: 'allow',
            scenario: { wallet: 'hot', transaction: { ethereum: { data: 'call' } } },
            unsaid: ['more'],
            errors: [
              { set: 'after', policy: 'p', effect: 'deny', field: 'condition', part: 'eth.tx.value', message: 'errs' },
            ],
          },
          unknown: ['p'],
          because: ['why'],
        },
      ],
    } as const,
    render: (report) => renderCompared(report, style),
  },
  {
    name: 'evidence verify',
    given: {
      collector: '02ab',
      checks: [
        { what: 'request', verdict: 'holds', said: 'yes' },
        { what: 'key', verdict: 'broken', said: 'no' },
        { what: 'decision', verdict: 'unknown', said: 'why' },
      ],
    } as const,
    render: (one) => renderVerified(one, style, false),
    not: ['verdict'],
  },
  {
    name: 'policy backtest',
    given: {
      ...{ since: '2026', activities: 3, isCut: true, definitions: 'next' },
      rows: [
        { ...recorded, before: decided('executed'), after: decided('denied') },
        { ...recorded, before: decided('denied'), after: decided('waits') },
        { ...recorded, before: decided('denied'), after: { ...decided('executed'), policies: ['open'] } },
        { ...recorded, before: decided('unknown'), after: decided('denied') },
      ],
    } as const,
    render: (report) => renderBacktest(report, style),
    not: ['outcome', 'recorded'],
  },
  {
    name: 'policy usage',
    given: {
      ...{ since: '2026', activities: 3, isCut: false, counted: 1, changed: 1, unknown: 1 },
      policies: [{ policy: 'ops', effect: 'allow', tookPart: 2, decisive: 1, last: recorded }],
    } as const,
    render: (report) => renderUsage(report, style),
    not: ['activityId'],
  },
  {
    name: 'who-can',
    given: whoCanReport,
    render: (report) => renderWhoCan(report, style),
  },
  {
    name: 'who-can: as CSV',
    given: whoCanReport,
    render: (report) => renderWhoCanCsv(report),
    not: ['user', 'why'],
  },
  {
    name: 'who-can: as Markdown',
    given: whoCanReport,
    render: (report) => renderWhoCanMarkdown(report),
  },
  {
    name: 'who-can: the difference',
    given: {
      organization: { id: 'idid', name: 'acme' },
      before: { name: '2026-06-30', at: '2026-06-30T00:00:00.000Z', stateDigest: 'sha256:1', unknown: ['old one'] },
      after: { name: 'now', at: '2026-07-01T00:00:00.000Z', stateDigest: 'sha256:2', unknown: ['new one'] },
      unread: ['privateKey'],
      changes: [
        {
          power: 'sign',
          wallet: 'wallet.cold',
          before: { ways: [{ sets: [['alice', 'bob']] }] },
          after: {
            ways: [
              {
                sets: [
                  ['carol', 'dave'],
                  ['erin', 'frank'],
                ],
              },
            ],
          },
        },
      ],
    },
    laysOut: true,
    render: (report) => renderWhoCanDiff(report, style),
  },
  {
    name: 'unmanaged',
    given: [{ address: 'policy.ops', kind: 'policy', id: 'idid', looksLike: 'policy.0ps' }],
    render: (rows) => renderUnmanaged(rows, style),
  },
  {
    name: 'watch list and status: how a watched organization stands',
    given: {
      watch: { organization: 'acme' },
      isLost: false,
      paused: 'INC-7',
      state: {
        lookedAt: 'noon',
        sweeps: 1,
        drift: [
          {
            address: 'policy.ops',
            kind: 'policy',
            action: 'update',
            cause: 'live changed',
            mode: 'report',
            since: 'noon',
            pending: 'idid',
            author: {
              ...{
                activityId: 'idid',
                type: 'T',
                userName: 'alice',
                publicKey: '02ab',
                credential: 'laptop',
                at: 'noon',
              },
              approvedBy: [{ userName: 'bob', publicKey: '02cd', at: 'noon' }],
            },
          },
        ],
        waiting: [{ id: 'idid', type: 'T', fingerprint: 'sha256:abcdef', since: 'noon', approvedBy: ['alice', 'bob'] }],
        repairs: [],
        held: { code: 'apply/heal-loop', why: 'policy.ops again', since: 'noon' },
        taken: { at: 'noon', by: 'alice', commit: 'c0ffee' },
        refused: { code: 'apply/commit-refused', why: 'nobody signed', since: 'noon' },
        away: { code: 'apply/source-away', why: 'Git says no', since: 'noon' },
        error: { code: 'client/unreachable', message: 'nobody answers', since: 'noon' },
      },
      untold: { ops: { times: 2, why: 'the receiver answered 500', since: 'noon', nextAt: 'noon' } },
    },
    render: (watched) => renderWatch(watched, style, NOW),
    not: ['cause', 'mode'],
  },
  {
    name: 'up and status of a service: faults in force',
    given: { aheadMs: 0, faults: [{ id: 1, path: '/public/*', times: 1 }] },
    render: renderInForce,
  },
  {
    name: 'webhooks: an event about an activity',
    given: {
      ...{ at: 'noon', eventType: 'ACTIVITY_UPDATES', eventId: 'event', organizationId: 'org', forwarded: '200' },
      body: { status: 'ACTIVITY_STATUS_COMPLETED', type: 'ACTIVITY_TYPE_CREATE_POLICY_V3', id: 'idid' },
    },
    render: renderEvent,
    not: ['eventType'],
  },
  {
    name: 'webhooks: an event about a balance',
    given: {
      ...{ at: 'noon', eventType: 'BALANCE_CONFIRMED_UPDATES', eventId: 'event', organizationId: 'org' },
      body: {
        msg: { operation: 'deposit', asset: { amount: '1', symbol: 'USDC' }, caip2: 'eip155:1', txHash: '0xff' },
      },
    },
    render: renderEvent,
    not: ['eventType'],
  },
  {
    name: 'webhooks: deliveries',
    given: {
      now: 0,
      waiting: { count: 1, first: [delivery] },
      givenUp: { count: 1, last: [{ ...delivery, isKept: true }] },
    },
    render: renderDeliveries,
  },
  {
    name: 'sends reconcile',
    given: {
      lanes: [
        {
          caip2: 'eip155:1',
          address: 'w',
          isHeld: true,
          nonces: [
            {
              nonce: 1,
              is: 'send',
              hash: 'h',
              block: 2,
              receiver: 'r',
              value: '1',
              data: 'd',
              sendId: 's',
              activityId: 'a',
            },
          ],
          sends: [{ sendId: 's', activityId: 'a', reference: 'p', receiver: 'r', value: '1', data: 'd', word: 'pay' }],
        },
      ],
      unread: [{ caip2: 'eip155:1', address: 'w', reason: 'r' }],
    },
    render: renderLanes,
    not: ['caip2', 'is', 'value', 'word'],
  },
  {
    name: 'sends: what who pays has',
    given: [
      { from: 'treasury', address: '0xf0', chain: 'eip155:1', balance: { text: '3 ETH', atomic: '3' }, by: 'the node' },
    ],
    render: (one) => renderSenders(one, style),
    not: ['chain'],
  },
  { name: 'sends: the end of a batch', given: report, render: (one) => renderSendBatchEnd(one, style) },
  { name: 'sends: a batch that was stopped', given: report, render: (one) => renderStopped(one, style) },
  { name: 'sends: the report as CSV', given: report, render: toReportCsv },
  {
    name: 'policy explain',
    given: explanation,
    render: (one) => renderExplanation(one, style),
    not: ['basis', 'effect'],
  },
  { name: 'policy explain: Markdown', given: explanation, render: renderExplanationMarkdown, not: ['basis', 'effect'] },
  { name: 'plan', given: plan, render: (one) => renderPlanText(one, { ...style, bold: style.strong }), laysOut: true },
  { name: 'plan: Markdown', given: plan, render: (one) => renderPlanMarkdown(one), laysOut: true },
  { name: 'plan: JSON', given: plan, render: writePlan },
  {
    name: 'policy test',
    given: {
      files: [
        {
          path: 'p.yaml',
          diagnostics: [],
          results: [
            {
              name: 'n',
              why: 'because',
              path: 'p.yaml',
              line: 1,
              column: 1,
              ok: false,
              because: ['one'],
              differences: [{ path: 'p.yaml', line: 1, column: 1, what: 'outcome', expected: 'a', got: 'b' }],
            },
          ],
        },
      ],
      passed: 0,
      failed: 1,
    },
    render: (suite) => renderTests({ suite }, style),
  },
  {
    name: 'policy test: coverage',
    given: {
      clauses: [{ path: 'p', line: 1, column: 1, missing: 'never true', text: 'a', policy: 'ops', field: 'condition' }],
      covered: 1,
      outcomes: 2,
      percent: 50,
    },
    render: (one) => renderCoverage(one, style),
  },
  {
    name: 'an error',
    given: { message: 'no', facts: { file: 'a.yaml', activity: 'x' }, next: 'do this' },
    render: ({ message, ...more }: { message: string }) =>
      renderError(new QuorateError('cli/usage', message, more), style),
  },
  {
    name: 'a diagnostic',
    given: { message: 'no', help: 'do this', path: 'a.yaml', text: 'condition' },
    render: ({ message, help, path, text }: Record<'message' | 'help' | 'path' | 'text', string>) => {
      const source = createSource(path, `a: ${text.replaceAll(/[\n\t]/g, ' ')}\nb: 1\n`)
      const span = { source, start: 3, end: 5 }
      return renderDiagnostics([diagnostic('cli/usage', message, span, { help, related: [{ message, span }] })], style)
    },
  },
  {
    name: 'a line of a command',
    given: { name: 'folder' },
    render: ({ name }: { name: string }) => line`Wrote ${name}, and ${style.dim(name)}.\n`,
  },
]

/** The places of all texts in a value, as keys from its root. */
function textsOf(value: unknown, not: readonly string[], at: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'string') return [[...at]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (not.includes(name) ? [] : textsOf(one, not, [...at, name])))
}

function withText(value: unknown, [first, ...rest]: readonly (string | number)[], text: string): unknown {
  if (first === undefined) return text
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>
  copy[first] = withText(copy[first], rest, text)
  return copy
}

const rendered = (view: View, given: unknown) => toTerminal(view.render(given as never))

describe('screen: what a proposer writes stays where it is put', () => {
  for (const view of VIEWS) {
    const places = textsOf(view.given, [...NEVER, ...(view.not ?? [])])
    test(`${view.name}: each of ${places.length} texts`, async () => {
      const benign = await emulate(rendered(view, view.given))
      expect(benign.done).toEqual([])
      const counted = new Map<unknown, number>()
      const linesWhere = async (place: (typeof places)[number]) => {
        const count =
          counted.get(place) ?? (await emulate(rendered(view, withText(view.given, place, 'y'.repeat(8))))).lines.length
        counted.set(place, count)
        return count
      }
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...places), hostile, async (place, text) => {
          const raw = rendered(view, withText(view.given, place, text))
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
          const renditions = /\u001b\[(?:[12]|22|3[1239])m/g
          // Nothing but ends of lines and the renditions of our own style leaves the process.
          const bare = raw.replace(renditions, '').replaceAll('\r\n', '\n')
          expect(printable(bare.replaceAll('\n', ''))).toBe(bare.replaceAll('\n', ''))
          expect(bare).not.toMatch(/^\s*::|##\[/m)
          const { lines, done } = await emulate(raw)
          expect(done).toEqual([])
          expect(lines.map((one) => one.trimEnd())).toEqual(
            bare
              .trimEnd()
              .split('\n')
              .map((one) => one.trimEnd()),
          )
          if (view.laysOut) return
          // A text of the same length that holds nothing of the kind leaves the same lines and the same words on them.
          expect(lines.length).toBe(await linesWhere(place))
        }),
        { numRuns: runs(Math.min(36, 12 + places.length)) },
      )
    })
  }

  test('each text of an activity is shown whole, as it is escaped', async () => {
    const places = textsOf(activity, [
      ...NEVER,
      'id',
      'type',
      'code',
      'fingerprint',
      'address',
      'atomicUnit',
      'name',
      'signatureLamports',
    ])
    const text = 'A\u009b2J\u202eB\u200bC\u0007D'
    for (const place of [...places, ['parameters', 'deep', '0', 'name']]) {
      const { lines } = await emulate(rendered(VIEWS[0]!, withText(activity, place, text)))
      expect(lines.join('\n').replaceAll('\\\\', '\\')).toContain('A\\u{9b}2J\\u{202e}B\\u{200b}C\\u{7}D')
    }
  })

  test('the finding: notes that drew another effect over the real one are read as what they are', async () => {
    const notes = 'retire\u009b1A\u009b2KEFFECT_DENY\u009b1B'
    const given = { ...activity, parameters: { policyName: 'drain', effect: 'EFFECT_ALLOW', condition: 'true', notes } }
    const { lines } = await emulate(rendered(VIEWS[0]!, given))
    expect(lines).toContain('    effect: EFFECT_ALLOW')
    expect(lines).toContain('    notes: retire\\u{9b}1A\\u{9b}2KEFFECT_DENY\\u{9b}1B')
  })

  test('a key of an object and a line break in a value forge no member', async () => {
    const parameters = { 'a\neffect: EFFECT_DENY': 'x', notes: 'one\neffect: EFFECT_DENY' }
    const { lines } = await emulate(rendered(VIEWS[0]!, { ...activity, parameters }))
    expect(lines.some((one) => /^ {4}effect:/.test(one))).toBe(false)
  })

  test('the live view writes over its own lines alone, however long the API’s words are', async () => {
    let screen = ''
    const io = {
      live: true,
      style,
      say: (text: string) => {
        screen += toTerminal(text)
      },
    }
    const draw = createProgressView(io as never, { now: () => NOW })
    const wide = 'w'.repeat(3000)
    const now = (message: string) =>
      ({
        ...progress,
        batches: [progress.batches[0], { ...progress.batches[1], error: { ...failure, message } }],
      }) as never
    io.say('before\n')
    draw(now(`${wide}\n\u001b[9A`), undefined, undefined)
    draw(now('short'), undefined, undefined)
    const { lines, done } = await emulate(screen)
    expect(done).toEqual([])
    expect(lines.length).toBe(4)
    expect(lines[0]).toBe('before')
    expect(lines[2]).toContain('short')
    expect(lines[3]).toContain('who votes with')
  })
})

describe('screen: nothing is left out', () => {
  const root = join(import.meta.dirname, '../../src/cli')
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(root, name), 'utf8')] as const)

  /** Views that stand inside of one in the table alone, or show nothing from outside. */
  const INSIDE: Readonly<Record<string, string>> = {
    'views/explanation.ts: renderNeeds': 'in policy explain and in what is about to be sent',
    'views/operator.ts: renderAhead': 'a number',
    'views/operator.ts: renderFault': 'in what is in force',
    'views/progress.ts: renderBatch': 'in what is new of an apply',
    'views/send-call.ts: renderCall': 'in an activity and in what is about to be sent',
    'views/completion.ts: renderCompletion': 'the command table alone',
    'views/coverage-files.ts: renderLcov': 'a file for programs; the stream escapes what is printed',
    'views/coverage-files.ts: renderCoverageHtml': 'a file for browsers, escaped as HTML',
    'views/policy-test-files.ts: renderJunit': 'a file for programs, escaped as XML',
    'views/policy-test-files.ts: renderTap': 'for programs; the stream escapes what is printed',
  }

  test('every view of the CLI is in the table above', () => {
    const views = sources
      .filter(([name]) => name.startsWith('views/'))
      .flatMap(([name, text]) =>
        [...text.matchAll(/^export (?:const|function) (render\w+)/gm)].map((match) => `${name}: ${match[1]}`),
      )
    const own = readFileSync(join(import.meta.dirname, 'screen.test.ts'), 'utf8')
    const used = [...own.matchAll(/^import \{([^}]*)\} from '..\/..\/src\/cli\/(views\/[\w-]+\.ts)'/gm)].flatMap(
      ([, names = '', file]) =>
        names.split(',').flatMap((one) => {
          const [name = '', alias = name] = one.trim().split(' as ')
          // Its import alone shows nothing.
          return own.split(new RegExp(`\\b${alias}\\b`)).length > 2 ? [`${file}: ${name}`] : []
        }),
    )
    expect(views.length).toBeGreaterThan(20)
    expect(views.filter((one) => !used.includes(one) && !Object.hasOwn(INSIDE, one))).toEqual([])
    expect(Object.keys(INSIDE).filter((one) => !views.includes(one) || used.includes(one))).toEqual([])
  })

  /** Files that put values into lines without `line`, and why. */
  const BARE: Readonly<Record<string, string>> = {
    'screen.ts': 'makes `line`',
    'io.ts': 'JSON, printable',
    'logger.ts': 'JSON, printable',
    'program.ts': 'the command table alone',
    'difference.ts': 'a difference of files: their own lines, which the stream escapes',
  }

  test('what commands say without a view (doctor, status, up, import) has every value escaped in one line', () => {
    const bare = sources.flatMap(([name, text]) =>
      [...text.matchAll(/\.(?:out|say)\(\s*`[^`]*\$\{[^`]*`|\breturn `[^`]*\$\{[^`]*\\n`/g)]
        .filter(() => !name.startsWith('views/') && !Object.hasOwn(BARE, name))
        .map(([found]) => `${name}: ${found.slice(0, 80)}`),
    )
    expect(bare).toEqual([])
  })
})

describe('screen: Markdown', () => {
  const MARKUP = [
    '<!--',
    '-->',
    '`',
    '```',
    '|',
    '](http://evil.test)',
    '[x]',
    '![',
    '@all',
    '@org/team',
    '<img src=x>',
    '&lt;',
    '#1',
    '**',
    '~~',
    '$x$',
    'https://evil.test',
    'www.evil.test',
    '\n\n# h',
    '\n> [!TIP]',
    '\n---\n',
    ':tada:',
    '- ',
  ]
  const markup = fc
    .array(fc.constantFrom(...MARKUP), { minLength: 1, maxLength: 6 })
    .map((pieces) => `x${pieces.join('')}x`)

  test('a name from outside makes no comment, link, image, mention, tag, table cell or fence', () => {
    const one = ['organizations', '0']
    const places = [
      { whole: plan, place: ['organization', 'name'] },
      { whole: plan, place: ['actor', 'userName'] },
      { whole: plan, place: ['batches', '0', 'summary'] },
      { whole: incident, place: [...one, 'organization', 'name'] },
      { whole: incident, place: [...one, 'exposure', 'user', 'name'] },
      { whole: incident, place: [...one, 'acts', '0', 'requestedBy'] },
      { whole: incident, place: [...one, 'cuts', '0', 'why'] },
    ].map(({ whole, place }) => {
      const render = whole === plan ? renderPlanMarkdown : renderTimeline
      const of = (given: string) => render(withText(whole, place, given) as never)
      return { of, benign: of('Q') }
    })
    const cells = (whole: string) => whole.split('\n').map((line) => (line.match(/(?<!\\)\|/g) ?? []).length)
    fc.assert(
      fc.property(markup, (text) => {
        for (const { of, benign } of places) {
          const hostileText = of(text)
          // Fenced code and code spans show whatever is in them.
          const outside = (whole: string) =>
            whole.replace(/^(`{3,})diff\n[\s\S]*?\n\1$/m, '').replace(/(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '')
          const shown = outside(hostileText)
          expect(hostileText.split('\n').length).toBe(benign.split('\n').length)
          expect(shown).not.toMatch(/(?<!\\)<(?!\/?(?:details|summary)>)|@|https?:\/\/|www\.|(?<!\\)!\[|(?<!\\)\]\(/)
          expect(cells(hostileText)).toEqual(cells(benign))
        }
      }),
      { numRuns: runs(40) },
    )
  })
})

describe('screen: files for programs', () => {
  test('JSON says the same value, without a character that draws', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const written = printableJson(JSON.stringify({ [text]: text }, null, 2))
        expect(JSON.parse(written)).toEqual({ [text]: text })
        expect(printable(written.replaceAll('\n', ''))).toBe(written.replaceAll('\n', ''))
      }),
    )
  })

  test('a cell of CSV is no formula, however it begins', () => {
    for (const reference of [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      ' =1',
      '＝1',
      '\r=1',
      '\n=1',
      '\u200b=1',
      '\ufeff=1',
    ]) {
      const [, line] = toReportCsv({ rows: [{ ...report.rows[0]!, reference }] } as never).split('\r\n')
      expect(line!.split(',')[1]).toMatch(/^'|^"'|^\\u\{/)
    }
  })
})

describe('screen: no view passes by the writer', () => {
  const root = join(import.meta.dirname, '../../src/cli')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const textOf = (name: string) => readFileSync(join(root, name), 'utf8')
  const found = (pattern: RegExp, but: readonly string[] = []) =>
    files
      .filter((name) => !but.includes(name))
      .flatMap((name) => [...textOf(name).matchAll(pattern)].map(([match]) => `${name}: ${match}`))

  test('the streams of the process are written by `io.ts`, the logger and the language server, and before these are loaded with texts of the build alone', () => {
    expect(
      found(/process\.std(?:out|err)\b(?!\.isTTY|\.on\b|\.once\b|\.columns)[^\n]*|\bconsole\.\w+/g, [
        'io.ts',
        'logger.ts',
        'commands/policy/lsp.ts',
      ]),
    ).toEqual([
      'main.ts: process.stderr.write(refusal)',
      'start.ts: process.stdout.write(text)',
      // Empty texts, which are out once all before them is.
      'start.ts: process.stdout, process.stderr]',
      // An error in which every text is made printable.
      'unwritten.ts: process.stderr.write(renderError(error))',
    ])
  })

  test('control sequences are written by `screen.ts` alone', () => {
    expect(found(/\\(?:u001b|x1b|u009b|x9b|r\\u)[^\n]*/g, ['screen.ts'])).toEqual([])
  })

  test('what a command says with a value in it goes through `line`', () => {
    expect(found(/\b(?:io\.|input\.io\.)(?:say|out)\(\s*`[^`]*\$\{[^\n]*/g, ['io.ts'])).toEqual([])
  })

  test('every text of a view for people is made by `view`, and this table has them', () => {
    const own = files.filter((name) => name.startsWith('views/'))
    const plain = own.flatMap((name) =>
      [...textOf(name).matchAll(/^export function (render\w+)/gm)].map(([, one]) => one),
    )
    // Scripts, files for programs, words of ours, and what puts views together.
    expect(plain.sort()).toEqual([
      'renderAhead',
      'renderCompletion',
      'renderCoverageHtml',
      'renderJunit',
      'renderLcov',
      'renderTap',
      'renderTests',
    ])
  })
})
