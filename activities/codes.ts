import { type Codes, EXIT } from '../src/diagnostics/index.ts'

export const applyCodes = {
  'apply/activity-failed': {
    summary: 'the API took the activity up and could not carry it out',
    solve: 'correct what the message names, then plan and apply again',
    exit: EXIT.partial,
  },
  'apply/rejected': {
    summary: 'somebody who may vote rejected the activity; that is final',
    solve: 'ask them why; `quorate apply --ask-again` submits it as a new activity',
    exit: EXIT.partial,
  },
  'apply/skipped': {
    summary: 'a batch was not begun because one that it needs did not complete',
    solve: 'solve what stopped the other batch, then plan and apply again',
    exit: EXIT.partial,
  },
  'apply/plan-missing': {
    summary: 'the plan store does not have this plan',
    solve: 'plan again on a machine that shares the plan store with the worker',
  },
  'apply/plan-edited': {
    summary: 'a plan does not match its digest: somebody changed it',
    solve: 'make a new plan; nothing was submitted',
    exit: EXIT.refused,
  },
  'apply/other-organization': {
    summary: 'the plan was made for another organization than it is applied to',
    solve: 'apply the plan to the organization that it names; nothing was submitted',
    exit: EXIT.refused,
  },
  'apply/definitions-missing': {
    summary: 'the plan store does not have the definitions that an organization is watched with, or not as they were',
    solve: 'give them again with `quorate watch add FOLDER`',
  },
  'apply/not-watched': {
    summary: 'a workflow asked for a repair that no look at the organization has found; nothing was signed',
    solve: 'nothing where somebody has just ended the watch; otherwise find out who can reach Temporal (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/push-refused': {
    summary:
      'what was pushed for a watched organization is not as its key has signed it, or older than what was taken before; what was taken last counts',
    solve:
      'push again with `quorate push FOLDER` and a key that the watch names; find out who can write to the plan store (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/nothing-pushed': {
    summary: 'nothing was pushed for the organization with a key that its watch names',
    solve: 'push with `quorate push FOLDER`, with that key and the same plan store',
  },
  'apply/commit-refused': {
    summary:
      'the newest commit of a watched branch is not signed by those who may, or does not follow the one taken before; what was taken last counts',
    solve:
      'sign the commit with a key of the allowed signers and push it; where the branch was rewritten on purpose, run `quorate watch add --git` again',
    exit: EXIT.refused,
  },
  'apply/source-away': {
    summary: 'the Git repository of a watched organization cannot be read; what was taken last counts',
    solve: 'bring it back, or mend how the worker reaches it (docs/reconciler.md); the next look tries again',
    retryable: true,
  },
  'apply/heal-loop': {
    summary: 'the same things were repaired again and again: somebody or something changes them each time',
    solve: 'find out who does (`quorate watch list` names them), then go on with `quorate watch resume`',
    exit: EXIT.refused,
  },
  'apply/order-missing': {
    summary:
      'the worker that was asked has another data folder than the one the send was begun from; what became of it is not known',
    solve:
      'start a worker with that data folder (`quorate worker`), or give all machines one ledger; do not send it again',
    retryable: true,
  },
  'apply/send-stopped': {
    summary: 'a send was stopped with its batch before it was submitted; nothing of it was',
    solve: 'send it again by itself, or the batch with --resume',
    exit: EXIT.partial,
  },
  'apply/transaction-failed': {
    summary: 'a transaction will not be included, or was included and reverted',
    solve: 'correct the cause and send under a new reference; nothing is sent again by itself',
    exit: EXIT.partial,
  },
  'apply/transaction-reverted': {
    summary: 'a transaction is in a block and was reverted there: its fee is spent, and nothing else moved',
    solve: 'correct the cause and send under a new reference; nothing is sent again by itself',
    exit: EXIT.partial,
  },
  'apply/transaction-given-up': {
    summary: 'a transaction was given up before any node had it: nothing was broadcast, and nothing is paid',
    solve: 'correct the cause, and give the same command again: the reference is free',
    exit: EXIT.partial,
  },
  'apply/transaction-held': {
    summary: 'a transaction waits until what the chain has of its account is identified; no time ends that',
    solve:
      'give `quorate sends reconcile` where the service runs: it goes on when that has identified what the chain has',
    retryable: true,
  },
  'apply/transaction-waits': {
    summary: 'a transaction waits for what its message says; nothing of it is lost',
    solve: 'nothing: it goes on by itself as soon as it can',
    retryable: true,
  },
  'apply/transaction-replaced': {
    summary: 'another transaction of the account has taken the nonce of this one, which moved nothing and never will',
    solve:
      'nothing, where it was replaced or cancelled on purpose, also from another data folder; otherwise find out what that transaction pays, and send under a new reference only what it does not',
    exit: EXIT.partial,
  },
  'apply/nothing-moved': {
    summary: 'a transfer of a token is in a block and has not reverted, and no token has moved',
    solve: 'look at what the token’s contract does before sending under a new reference; the fee is spent',
    exit: EXIT.partial,
  },
  'apply/body-missing': {
    summary: 'the plan store does not have a request body that was made for this plan',
    solve: 'give all workers of this organization the same plan store',
  },
  'apply/body-stale': {
    summary: 'a stored body has grown older than the API accepts and never became an activity',
    solve: 'nothing: a new body is made, after a look for an activity with an equal intent',
  },
  'apply/run-refused': {
    summary: 'a workflow asked for a step of a plan, and no `quorate apply` has let this run in; nothing was signed',
    solve:
      'apply the plan again; if none of your people began that workflow, find out who can reach Temporal (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/other-user': {
    summary:
      'one user planned or ordered it, and this worker has the key of another; nothing was submitted by the step',
    solve:
      'start a worker with a key of the user who is named: it goes on there; a plan may also be cancelled, and made with the key that the worker has',
    retryable: true,
  },
  'apply/batch-early': {
    summary: 'a workflow asked for a batch before the batches that it depends on were done; nothing was signed',
    solve:
      'apply the plan again; if none of your people began that workflow, find out who can reach Temporal (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/guarded': {
    summary: 'a guard stops the plan, and nobody has let it pass; nothing was signed',
    solve: 'plan again, look at what the guard says, and give its bypass if that is what you want',
    exit: EXIT.refused,
  },
  'apply/vote-refused': {
    summary: 'a workflow asked for an approval of an activity that is not of this plan or send; nothing was signed',
    solve:
      'find out who can reach Temporal (docs/trust.md); reject the activity with `quorate reject`, if nobody knows it',
    exit: EXIT.refused,
  },
  'apply/body-refused': {
    summary: 'a body in the plan store does not match its plan or send; nothing was signed',
    solve: 'find out who can write to the plan store (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/answer-refused': {
    summary:
      'a step was answered by somebody without the payload key; the answer is ignored, and the step is done again',
    solve:
      'find out who polls the task queue of the organization at Temporal (docs/trust.md); the apply goes on by itself',
    retryable: true,
  },
  'apply/start-refused': {
    summary: 'a workflow was started by somebody without the payload key; it ended at once',
    solve: 'apply or send again; find out who can reach Temporal (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/outcome-refused': {
    summary: 'a workflow reported an outcome of a plan or send that no step had read from the API; it was not kept',
    solve: 'apply the plan again; find out who can reach Temporal (docs/trust.md)',
    exit: EXIT.refused,
  },
  'apply/store-failed': {
    summary: 'the plan store could not be read or written',
    solve:
      'free space or mend the permissions of its folder, or bring back the server it is on; the apply goes on by itself',
    retryable: true,
  },
  'apply/store-place': {
    summary: 'the place of the plan store is one that it cannot be, or not the one that this data folder works with',
    solve: 'name PostgreSQL or a bucket that this machine may use; nothing was written',
  },
  'apply/store-conflict': {
    summary: 'a data folder and the plan store it was to be moved to have different records of one thing',
    solve: 'keep the data folder until what it has begun is over, and begin with an empty one',
    exit: EXIT.refused,
  },
  'apply/store-key': {
    summary: 'this data folder does not have the key of the plan store that machines share',
    solve: 'copy `plans.key` from the data folder of a machine that uses it',
  },
  'apply/record-refused': {
    summary:
      'a record of the plan store was not written with its key: somebody changed it, moved it, or took the key away',
    solve:
      'put back the record, or the key beside the plan store (plans.key), from a copy of the data folder, and look who can write there; do not take it away: what it stands for may then be submitted again',
    retryable: true,
  },
  'apply/record-missing': {
    summary: 'a record of the plan store that was made is not there any more: somebody took it away',
    solve:
      'put it back from a copy of the data folder, and look who can write there: without it, what it stands for could be submitted again. Where the whole store was put away on purpose, put away plans.key and plans.names beside it too',
    retryable: true,
  },
  'apply/timed-out': {
    summary: 'a step took too long or its worker went away',
    solve: 'nothing: the step is tried again',
    retryable: true,
  },
  'rotate/key-missing': {
    summary: 'the new private key of a rotation is not in the data folder of the worker',
    solve: 'run the worker on the data folder from which the rotation was ordered; the old key stays',
  },
  'rotate/unverified': {
    summary: 'the new key was registered, and the API did not take it for the user’s; it is taken away again',
    solve: 'see why the API refuses it (an IP allow-list, a policy, the clock), then rotate again; the old key stays',
  },
  'rotate/sink-failed': {
    summary: 'the new key could not be handed over; it is not registered, or taken away again',
    solve: 'mend the file, the command or the store that takes the key, then rotate again; the old key stays',
  },
  'rotate/sink-away': {
    summary: 'it is not known whether the sink took the new key; both keys stay',
    solve:
      'nothing, if it takes it at last: it is tried again; otherwise see why it does not, or end the rotation by `quorate status --cancel`',
    retryable: true,
  },
  'rotate/no-such-key': {
    summary: 'the organization has no such user or API key, or several',
    solve: 'correct the name; nothing was submitted',
  },
  'rotate/no-room': {
    summary:
      'the user has as many API keys as there may be, so that a new one is refused or takes the place of another',
    solve: 'name a key that nobody needs with --drop; nothing was submitted',
    exit: EXIT.refused,
  },
  'rotate/other-runs': {
    summary: 'another key of the user is being rotated',
    solve: 'wait for it (`quorate status`), then rotate this one',
  },
  'rotate/own-key': {
    summary: 'the key in use can be rotated only into the file from which it is read',
    solve:
      'keep it in a file (QUORATE_API_KEY_FILE), and hand the new one to that with --to-file; nothing was submitted',
    exit: EXIT.refused,
  },
  'rotate/uncommittable': {
    summary: 'with --commit, the files that name the key cannot be committed alone on the branch that is checked out',
    solve: 'commit or put away what is there, then rotate again, or leave --commit out; the message says what was done',
    exit: EXIT.refused,
  },
  'rotate/overlap': {
    summary: 'the old key was to be deleted before the overlap had passed',
    solve: 'nothing: it is tried again',
    retryable: true,
  },
  'rotate/refused': {
    summary: 'a workflow asked for a step of a rotation that may not be done now',
    solve: 'find out who can reach Temporal (docs/trust.md); the old key stays',
    exit: EXIT.refused,
  },
  'rotate/unproved': {
    summary: 'the old key was deleted, and the API’s list of the user’s keys is not whole, so that it proves nothing',
    solve: 'nothing: it is tried again',
    retryable: true,
  },
  'rotate/still-accepted': {
    summary: 'the old key was deleted, and the API still takes it',
    solve: 'look whether another user or organization has the same key registered (`quorate activities`)',
    exit: EXIT.partial,
  },
  'apply/unexpected': {
    summary: 'a step failed in a way that nobody foresaw',
    solve: 'report this with the worker log',
  },
} as const satisfies Codes

export type ApplyCode = keyof typeof applyCodes
