import type { Mutant } from './mutant.ts';

export const runs: readonly Mutant[] = [
  {
    file: 'src/runs/doors/fetch.ts',
    text: 'if (!grant?.hosts.includes(host)) {',
    replacement: 'if (!grant) {',
    test: 'test/runs/doors.test.ts',
    only: 'go nowhere else',
    harm: 'A plugin sends a secret to any host that it may reach.',
  },
  {
    file: 'src/runs/doors/redaction.ts',
    text: 'hidden = hidden.replaceAll(form, () => name)',
    replacement: 'hidden = hidden.replaceAll(form, () => form + name)',
    test: 'test/runs/doors.test.ts',
    only: 'come back to nobody',
    harm: 'A host that echoes headers gives the plugin, the record and the log the secret.',
  },
  {
    file: 'src/runs/doors/doors.ts',
    text: 'throw new ForbiddenCall(`The manifest does not ask for \\`permissions.${name}\\``)',
    replacement: 'throw new UnavailableError(name)',
    test: 'test/runs/doors.test.ts',
    only: 'refuses the whole batch, even if it is caught',
    harm: 'A plugin that calls what it may not call is let do the rest.',
  },
  {
    file: 'src/domain/conversations/arbiter.ts',
    text: " || name === 'schedule'",
    replacement: '',
    test: 'test/runs/schedule.test.ts',
    only: 'silent after a takeover',
    harm: 'A bot that has scheduled a message speaks into the conversation of a person.',
  },
  {
    file: 'src/runs/conduct.ts',
    text: 'depth: depth + 1',
    replacement: 'depth',
    test: 'test/runs/overtaken.test.ts',
    only: 'a bot that answers itself',
    harm: 'Bots that hear what bots cause answer each other until the bound on loops.',
  },
  {
    file: 'src/runs/apply-actions.ts',
    text: "new Set(['note', 'label', 'priority', 'attributes'])",
    replacement: "new Set(['note', 'label', 'priority', 'attributes', 'handoff'])",
    test: 'test/runs/overtaken.test.ts',
    harm: 'A bot that a person overtook still opens the conversation and writes its note.',
  },
  {
    file: 'src/runs/bot-runner.ts',
    text: `await hold(tx, input.event.conversationId);`,
    replacement: 'input.found && input.found.conversation;',
    test: 'test/runs/overtaken.test.ts',
    only: 'in the moment in which it settles',
    harm: "A bot's handoff slips in after a person took over.",
  },
  {
    file: 'src/sandbox/parent/event-view.ts',
    text: "['conversation', 'current_conversation']",
    replacement: "['conversation']",
    test: 'test/sandbox/event-view.test.ts',
    harm: "A plugin without the permission reads the contact's name when the widget is opened.",
  },
  {
    file: 'src/sandbox/parent/pool.ts',
    text: `          this.#failedStarts = 0;
`,
    replacement: '',
    test: 'test/sandbox/process-pool.test.ts',
    harm: 'After three failed starts in the life of a process, every later one fails whatever waits.',
  },
  {
    file: 'src/sandbox/parent/watched-process.ts',
    text: ' || this.#residentMb() > this.#options.maxRssMb * keptMemoryPart;',
    replacement: ';',
    test: 'test/sandbox/process-pool.test.ts',
    harm: "An innocent bot's run dies of the memory that the one before it left behind.",
  },
  {
    file: 'src/sandbox/parent/fair-queue.ts',
    text: `    bots.delete(bot);
    this.#accounts.delete(account);
    if (items.length > 0)`,
    replacement: `    bots.delete(bot);
    if (bots.size === 0 && items.length === 0) this.#accounts.delete(account);
    if (items.length > 0)`,
    test: 'test/sandbox/fair-queue.test.ts',
    harm: 'The account that came first is served until it has nothing left, and all others wait.',
  },
  {
    file: 'src/sandbox/child/isolate.ts',
    text: 'Math.min(limits.sliceMs, Math.ceil(limits.computingMs - beganAt))',
    replacement: 'limits.sliceMs',
    test: 'test/sandbox/sandbox.test.ts',
    only: 'slices together',
    harm: 'A bot that calls the service in between computes ten times as long as it may.',
  },
  {
    file: 'src/sandbox/child/spare-isolate.ts',
    text: `    this.#spare = null;
`,
    replacement: '',
    test: 'test/sandbox/sandbox.test.ts',
    harm: 'A run finds the isolate of another, with what that bot left there or none at all.',
  },
  {
    file: 'src/sandbox/parent/watched-process.ts',
    text: 'if (this.#knownBundles.size >= keptBundles) this.#knownBundles.clear();',
    replacement: 'if (this.#knownBundles.size > keptBundles) this.#knownBundles.clear();',
    test: 'test/sandbox/sandbox.test.ts',
    only: 'knows which bundles',
    harm: 'With more than 32 plugins, runs of innocent bots crash.',
  },
  {
    file: 'src/deliveries/core/after-run.ts',
    text: "new Set(['queue_full', 'loop_suspected'])",
    replacement: "new Set(['loop_suspected'])",
    test: 'test/runs/overtaken.test.ts',
    only: 'by a full queue',
    harm: 'A full service puts innocent bots into quarantine.',
  },
  {
    file: 'src/deliveries/core/after-run.ts',
    text: 'failures + 1 < maxTransientAttempts',
    replacement: 'failures < maxTransientAttempts',
    test: 'test/runs/overtaken.test.ts',
    only: 'by a crash of its process',
    harm: 'The customer of a crashing bot waits a try longer for people.',
  },
  {
    file: 'src/sandbox/parent/paces.ts',
    text: 'if (left > 0) this.#underWay.set(owner.account, left);',
    replacement: 'if (left >= 0) this.#underWay.set(owner.account, left);',
    test: 'test/sandbox/fair-queue.test.ts',
    harm: 'Once an account has run a bot, its new bots never get a reserved child and wait behind the slow.',
  },
  {
    file: 'src/sandbox/parent/pool.ts',
    text: `    if (this.#failedStarts >= patientStarts) this.#drain('The sandbox cannot be started');
`,
    replacement: '',
    test: 'test/sandbox/process-pool.test.ts',
    only: 'ends what waits when no child',
    harm: 'Where the sandbox cannot start, customers wait for bots for ever.',
  },
];
