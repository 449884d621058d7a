const words: Readonly<Record<string, string>> = {
  ok: 'Answer 200',
  fail: 'Fail with 500',
  hang: 'Hang',
  slow: 'Answer after 3 s',
  gone: 'Answer 410, which switches webhooks off',
};

interface Props {
  mode: string;
  modes: readonly string[];
  choose: (mode: string) => void;
}

/** The choice how the receiver answers. */
export function Modes({ mode, modes, choose }: Props) {
  return (
    <fieldset>
      <legend>How it answers</legend>
      {modes.map((one) => (
        <label key={one}>
          <input type="radio" name="mode" value={one} checked={one === mode} onChange={() => choose(one)} />{' '}
          {words[one] ?? one}
        </label>
      ))}
    </fieldset>
  );
}
