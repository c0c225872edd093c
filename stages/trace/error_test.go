package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

const (
	azureHead = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	burstHead = "Timestamp,Request tokens,Response tokens\n"
)

// Every error names the file, the line, its text, the field, what it is and
// what was expected.
func TestErrors(t *testing.T) {
	row := `{"timestamp": 1, "input_length": 5, "output_length": 1, "hash_ids": [1]}` + "\n"
	with := func(old, new string) string { return row + strings.Replace(row, old, new, 1) }
	chat := strings.ReplaceAll(row, "{", `{"chat_id": 1, "turn": 1, `)
	chatWith := func(old, new string) string { return chat + strings.Replace(chat, old, new, 1) }
	for _, x := range []struct{ name, text, want string }{
		{"empty", "", "f: file is empty, expected a trace in one of the formats mooncake, qwen-bailian, azure, burstgpt, requests, measured, parquet"},
		{"blank", "\r\n \n", "f: file is empty, expected a trace in one of the formats mooncake, qwen-bailian, azure, burstgpt, requests, measured, parquet"},
		{"unknown", "a,b\n1,2\n", "f:1: format cannot be told, expected one of mooncake, qwen-bailian, azure, burstgpt, requests, measured, parquet; name it in the field format, in `a,b`"},
		{"zstd", "\x28\xb5\x2f\xfd...", "f: file is compressed by zstd, expected gzip or no compression: unpack it first"},
		{"UTF-16", "\xff\xfeT\x00", "f: file is text in UTF-16, expected UTF-8: convert it first"},

		{"negative time", with(`"timestamp": 1`, `"timestamp": -1`), "f:2: timestamp is -1, expected a time of at least 0 and below 285 years, in "},
		{"huge time", with(`"timestamp": 1`, `"timestamp": 1e300`), "f:2: timestamp is 1e+300, expected a time of"},
		{"overflow", with(`"timestamp": 1`, `"timestamp": 1e999`), "f:2: timestamp is a JSON number 1e999, expected a number, in "},
		{"NaN", with(`"timestamp": 1`, `"timestamp": NaN`), "f:2: line is no JSON object (invalid character 'N' looking for beginning of value), expected one object a line, in "},
		{"text", with(`"timestamp": 1`, `"timestamp": "1"`), "f:2: timestamp is a JSON string, expected a number, in "},
		{"null", with(`"timestamp": 1`, `"timestamp": null`), "f:2: timestamp is missing, expected a number, in "},
		{"no prompt", with(`"input_length": 5, `, ``), "f:2: input_length is missing, expected a whole number from 0 to 2147483647, in "},
		{"no output", with(`"output_length": 1, `, ``), "f:2: output_length is missing, expected a whole number from 0 to 2147483647, in "},
		{"half a token", with(`"output_length": 1`, `"output_length": 1.5`), "f:2: output_length is 1.5, expected a whole number from 0 to 2147483647, in "},
		{"negative prompt", with(`"input_length": 5`, `"input_length": -5`), "f:2: input_length is -5, expected a whole number"},
		{"prompt overflow", with(`"input_length": 5`, `"input_length": 2147483648`), "f:2: input_length is 2.147483648e+09, expected a whole number"},
		{"no hash ids", with(`, "hash_ids": [1]`, ``), "f:2: hash_ids is missing, expected a list of whole numbers of 64 bits ([] where the prompt shares nothing), in "},
		{"hash ids null", with(`[1]`, `null`), "f:2: hash_ids is missing, expected a list"},
		{"hash ids no list", with(`[1]`, `1`), "f:2: hash_ids is `1`, expected a list of whole numbers of 64 bits, in "},
		{"hash id text", with(`[1]`, `[1, "a"]`), "f:2: hash_ids is a list with `\"a\"`, expected a list of whole numbers of 64 bits, in "},
		{"hash id float", with(`[1]`, `[1.5]`), "f:2: hash_ids is a list with `1.5`, expected"},
		{"hash id overflow", with(`[1]`, `[18446744073709551616]`), "f:2: hash_ids is a list with `18446744073709551616`, expected"},
		{"hash id nested", with(`[1]`, `[[1], 2]`), "f:2: hash_ids is a list with `[1]`, expected"},
		{"too many blocks", with(`[1]`, `[1, 2]`), "f:2: hash_ids is a list of 2 blocks, expected at most 1, as the prompt has 5 tokens and a block 512 (field block_tokens), in "},
		{"cut off", row + row[:30], "f:2: line is no JSON object (unexpected end of JSON input), expected one object a line, in `{\"timestamp\": 1, \"input_length`"},
		{"two objects", row + row[:len(row)-1] + row, "f:2: line is no JSON object (invalid character '{' after top-level value)"},
		{"not JSON", row + "hello\n", "f:2: line is no JSON object (invalid character 'h' looking for beginning of value), expected one object a line, in `hello`"},
		{"an array", row + "[1]\n", "f:2: line is no JSON object (json: cannot unmarshal array"},

		{"no chat", chatWith(`"chat_id": 1, `, ``), "f:2: chat_id is missing, expected a whole number of at least 0, in "},
		{"chat fraction", chatWith(`"chat_id": 1`, `"chat_id": 1.5`), "f:2: chat_id is 1.5, expected a whole number of at least 0, in "},
		{"parent", chatWith(`"chat_id": 1`, `"chat_id": 1, "parent_chat_id": -2`), "f:2: parent_chat_id is -2, expected -1 or a whole number of at least 0, in "},
		{"turn", chatWith(`"turn": 1`, `"turn": 0`), "f:2: turn is 0, expected a whole number of at least 1, in "},
		{"type", chatWith(`"turn": 1`, `"type": 1`), "f:2: type is a JSON number, expected a string, in "},

		{"date", azureHead + "2023-11-16 18:15:46,1,1\n16.11.2023,2,2\n", "f:3: TIMESTAMP is `16.11.2023`, expected a date and time such as 2023-11-16 18:15:46.6805900 or 2024-05-10 00:00:00.009930+00:00, in `16.11.2023,2,2`"},
		{"no date", azureHead + ",1,1\n", "f:2: TIMESTAMP is empty, expected a date"},
		{"before 1970", azureHead + "2023-11-16 18:15:46,1,1\n0001-01-01 00:00:00,1,1\n", "f:3: TIMESTAMP is `0001-01-01 00:00:00`, expected a year from 1970 to 2254, in "},
		{"tokens", azureHead + "2023-11-16 18:15:46,x,1\n", "f:2: ContextTokens is `x`, expected a number, in `2023-11-16 18:15:46,x,1`"},
		{"no tokens", azureHead + "2023-11-16 18:15:46,,1\n", "f:2: ContextTokens is empty, expected a number, in "},
		{"NaN tokens", azureHead + "2023-11-16 18:15:46,1,NaN\n", "f:2: GeneratedTokens is `NaN`, expected a number, in "},
		{"few fields", azureHead + "2023-11-16 18:15:46,1\n", "f:2: line has 2 fields, expected the header's 3: TIMESTAMP,ContextTokens,GeneratedTokens, in "},
		{"many fields", azureHead + "2023-11-16 18:15:46,1,2,3\n", "f:2: line has 4 fields, expected the header's 3: "},
		{"open quote", azureHead + "\"2023-11-16 18:15:46,1,2\n", "f:2: line is no CSV (extraneous or missing \" in quoted-field), expected fields with commas between them, in "},
		{"column twice", "TIMESTAMP,ContextTokens,GeneratedTokens,contexttokens\n", "f:1: header has the column `ContextTokens` twice, expected it once, in "},
		{"header only", azureHead, "f: trace has no records, expected at least one request"},
		{"nothing left", burstHead + "1,0,0\n2,5,0\n", "f: none of the trace's 2 records has both prompt and output tokens, expected at least one request"},
		{"seconds", burstHead + "-1,1,1\n", "f:2: Timestamp is -1, expected a time of at least 0 and below 285 years, in `-1,1,1`"},
		{"infinite", burstHead + "+Inf,1,1\n", "f:2: Timestamp is `+Inf`, expected a number, in "},
		{"huge", burstHead + "1e18,1,1\n", "f:2: Timestamp is 1e+18, expected a time of"},
		{"tokens overflow", burstHead + "1,99999999999999999999,1\n", "f:2: Request tokens is 1e+20, expected a whole number from 0 to 2147483647, in "},

		{"not parquet", "PAR1", "f: file is not readable as Parquet ("},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, err := Read("f", strings.NewReader(x.text), Source{})
			var e *Error
			if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), x.want) {
				t.Errorf("error\n%v, expected\n%s", err, x.want)
			}
		})
	}
}

func TestNamedFormat(t *testing.T) {
	for _, x := range []struct{ name, format, text, want string }{
		{"wrong column", "azure", "TIME,ContextTokens,GeneratedTokens\n", "f:1: header has no column `TIMESTAMP`, expected TIMESTAMP, ContextTokens, GeneratedTokens, in `TIME,ContextTokens,GeneratedTokens`"},
		{"optional columns", "burstgpt", "a,b\n", "f:1: header has no column `Timestamp`, expected Timestamp, Request tokens, Response tokens, optional Model, optional Log Type, optional Session ID, in `a,b`"},
		{"empty", "azure", "", "f: file is empty, expected a header with TIMESTAMP, ContextTokens, GeneratedTokens"},
		{"empty JSONL", "mooncake", "", "f: trace has no records, expected at least one request"},
		{"misspelt", "moon-cake", "", "f: format is `moon-cake` (did you mean mooncake?), expected one of mooncake, qwen-bailian, azure, burstgpt, requests, measured, parquet"},
	} {
		if _, err := Read("f", strings.NewReader(x.text), Source{Format: x.format}); err == nil || err.Error() != x.want {
			t.Errorf("%s: error\n%v, expected\n%s", x.name, err, x.want)
		}
	}
}

// A long line is quoted up to 200 characters, and never inside one.
func TestErrorText(t *testing.T) {
	_, err := Read("f", strings.NewReader(mooncakeSample+strings.Repeat("é", 100000)), Source{})
	var e *Error
	if !errors.As(err, &e) || e.Line != 5 || e.Text != strings.Repeat("é", 200)+"..." {
		t.Errorf("line %d quoted as %q", e.Line, e.Text)
	}
	_, err = Read("f", strings.NewReader(mooncakeSample+strings.Repeat("x", lineLimit+1<<20)), Source{})
	if !errors.As(err, &e) || e.Line != 5 || !strings.Contains(err.Error(), "line is longer than 64 MiB, expected one record a line") {
		t.Errorf("%.100v", err)
	}
}

// Wherever a gzip file breaks off, the error says so and where.
func TestTruncatedGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, azure2023Sample)
	w.Close()
	whole := z.Bytes()
	for n := 2; n < len(whole); n++ {
		_, err := Read("f.csv.gz", bytes.NewReader(whole[:n]), Source{})
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), "f.csv.gz") {
			t.Errorf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
	bad := bytes.Clone(whole)
	bad[len(bad)-5]++ // the checksum or length at the end
	if _, err := Read("f.csv.gz", bytes.NewReader(bad), Source{}); err == nil {
		t.Error("a wrong checksum passes")
	}
}
