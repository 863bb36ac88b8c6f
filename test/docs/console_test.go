package docs

import (
	"slices"
	"testing"
)

func TestAConsoleBlockIsCommandsAndTheirAnswers(t *testing.T) {
	got, err := exchanges("$ curl \\\n    -d '\n  {}'\n200\n\nok\n$ A=1\n$ echo $A\n1\n")
	want := []exchange{
		{"curl \\\n    -d '\n  {}'\n", "200\n\nok\n"},
		{"A=1\n", ""},
		{"echo $A\n", "1\n"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"no command\n", "$ echo 'open\n"} {
		if got, err := exchanges(bad); err == nil {
			t.Errorf("%q is taken as %q", bad, got)
		}
	}
}

func TestAnAnswerIsAsShown(t *testing.T) {
	const got = "HTTP/1.1 201 Created\r\nDate: today\r\nEtag: " +
		"\"7\"\r\n\r\n{\"name\":\"cats\",\"replicas\":3,\"uid\":\"1-2\"}\n"
	for _, c := range []struct {
		shown string
		same  bool
		why   string
	}{
		{got, true, "it is itself"},
		{
			"HTTP/1.1 201 Created\nEtag: \"…\"\n\n{\"name\":\"cats\",\n\"replicas\":3,\"uid\":\"…\"}\n", true,
			"lines may be folded and omitted, and … matches anything",
		},
		{"", true, "nothing is shown"},
		{"HTTP/1.1 200 OK\n", false, "the status is different"},
		{"Etag: \"…\"\nHTTP/1.1 201 Created\n", false, "the order is different"},
		{"{\"name\":\"cats\",\"uid\":…}\n", false, "a field in the middle of a line is not shown"},
	} {
		if err := answers(c.shown, got); (err == nil) != c.same {
			t.Errorf("%s: %v", c.why, err)
		}
	}
	if err := answers("photos   Ready   20s\n", "photos  Ready  1m5s\n"); err != nil {
		t.Errorf("ages differ from run to run: %v", err)
	}
}
